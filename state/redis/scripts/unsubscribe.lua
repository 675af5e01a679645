-- Follow a conversation no more.
-- KEYS[1-9]  the conversation
-- Returns    unsubscribed

-- include clock
-- include conversation
-- include keeping
-- include handover

call('ZREM', FOLLOWED, name)
sweep()
return {'unsubscribed'}
