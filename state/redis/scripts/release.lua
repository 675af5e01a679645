-- Give a lease back that has no turn, and hand over.
-- KEYS[1-13]  the conversation
-- ARGV[3-5]   operation, lease and patience in microseconds (both '' to start nothing)
-- ARGV[6]     the lease's token
-- Returns     gone | lost | turnover <Turnover>

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
if turn or not held or token ~= ARGV[6] then return first_answer(op) or {'lost'} end
end_turn()
local started = next_turn(op, tonumber(ARGV[4]), tonumber(ARGV[5]))
sweep()
return answer(op, with_turnover({'turnover'}, started))
