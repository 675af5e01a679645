-- Drop transcript and state now, whatever runs; a turn that runs will write neither.
-- KEYS[1-13]  the conversation
-- Returns     gone | reset

-- include clock
-- include conversation
-- include gone
-- include turn
-- include sweep

call('DEL', TRANSCRIPT)
call('HDEL', KEPT, 'state', 'version')
if turn then call('HSET', TURN, 'detached', 1) end
sweep()
return {'reset'}
