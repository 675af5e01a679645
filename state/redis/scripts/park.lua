-- Give the lease back and be due at once; turn, journal and counts stay.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3]     operation
-- ARGV[4]     the lease's token
-- Returns     lost | parked

-- include clock
-- include conversation
-- include turn
-- include number
-- include handover

if not held or token ~= ARGV[4] then return first_answer() or {'lost'} end
call('HSET', TURN, 'token', '')
call('ZADD', WAKE, int(now), name)
return answer({'parked'})
