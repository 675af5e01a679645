-- Follow a conversation.
-- KEYS[1-13]  the conversation
-- Returns     gone | subscribed

-- include clock
-- include conversation
-- include gone

call('ZADD', INDEX, 0, 'f ' .. name)
return {'subscribed'}
