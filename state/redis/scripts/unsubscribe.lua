-- Follow a conversation no more.
-- KEYS[1-9]  the conversation
-- Returns    unsubscribed
call('ZREM', FOLLOWED, name)
sweep()
return {'unsubscribed'}
