-- Follow a conversation no more.
-- KEYS[1-9]  the conversation
-- Returns    unsubscribed

-- include clock
-- include conversation
-- include turn
-- include sweep
-- include number
-- include handover

call('ZREM', FOLLOWED, name)
sweep()
return {'unsubscribed'}
