-- Take up what is pending, if nobody holds it.
-- KEYS[1-13]  the conversation
-- ARGV[3-5]   operation, lease and patience in microseconds
-- Returns     gone | busy <microseconds> | turnover <Turnover>

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
local first = first_answer(op)
if first then return first end
local busy_until = math.max(held and expires or 0, backing)
if busy_until > now then return {'busy', int(busy_until - now)} end
local started = next_turn(op, tonumber(ARGV[4]), tonumber(ARGV[5]))
sweep()
return answer(op, with_turnover({'turnover'}, started))
