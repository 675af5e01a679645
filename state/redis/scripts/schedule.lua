-- Set a timer, replacing one of its id.
-- KEYS[1-13]  the conversation
-- ARGV[3]     operation
-- ARGV[4]     '<id> <delay>', microseconds
-- ARGV[5]     the rest of the alarm, see alarms.lua
-- Returns     gone | scheduled <generation>

-- include clock
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
local id, delay = string.match(ARGV[4], '^(%S+) (%-?%d+)$')
local generation = set_alarm(id, delay, ARGV[5])
rewake()
return answer(op, {'scheduled', generation})
