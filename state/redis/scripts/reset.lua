-- Drop transcript and state now, whatever runs; a turn that runs will write neither.
-- KEYS[1-9]  the conversation
-- Returns    reset

-- include clock
-- include conversation
-- include turn
-- include sweep
-- include number
-- include handover

call('DEL', TRANSCRIPT)
call('HDEL', KEPT, 'state', 'version')
if turn then call('HSET', TURN, 'detached', 1) end
sweep()
return {'reset'}
