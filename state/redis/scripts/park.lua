-- Give the lease back and be due at once; turn, journal and counts stay.
-- KEYS[1-13]  the conversation
-- ARGV[3-4]   operation, the lease's token
-- Returns     gone | lost | parked

-- include clock
-- include room
-- include conversation
-- include gone
-- include turn
-- include sweep
-- include answers
-- include number
-- include framing
-- include letters
-- include inbox
-- include alarms
-- include ring
-- include repeats
-- include handover

local op = ARGV[3]
if not turn or not held or token ~= ARGV[4] then return first_answer(op) or {'lost'} end
call('HSET', TURN, 'token', '')
call('ZADD', WAKE, int(now), name)
return answer(op, {'parked'})
