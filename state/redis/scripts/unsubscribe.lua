-- Follow a conversation no more.
-- KEYS[1-13]  the conversation
-- Returns     gone | unsubscribed

-- include clock
-- include conversation
-- include gone
-- include turn
-- include sweep

call('ZREM', INDEX, 'f ' .. name)
sweep()
return {'unsubscribed'}
