-- Put a dead letter's inbounds back at the end of the inbox, as one turn.
-- KEYS[1-13]  the conversation
-- ARGV[3-4]   operation, id of the letter
-- Returns     gone | requeued <1 or 0>

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

local op, letter = ARGV[3], ARGV[4]
local first = first_answer(op)
if first then return first end
local found = call('HGET', DEAD, letter)
found = found and unframed(found)
if not found or found[5] then return answer(op, {'requeued', 0}) end
drop_letter(letter)
local before
for _, inbound in ipairs(unframed(found[4])) do
  call('RPUSH', INBOX, anew(inbound, before))
  before = id_of(inbound)
end
if not turn and not held then leave_wake() end
sweep()
return answer(op, {'requeued', 1})
