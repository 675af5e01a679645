-- Remove one inbound that waits; its id counts as seen from now on.
-- KEYS[1-15]  the conversation, where its id is marked as seen
-- ARGV[3-4]   operation, id
-- ARGV[5]     '<mark> <hour>' of that id, see seen.lua
-- Returns     gone | withdrawn <inbound> | elsewhere <turn or nil>

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
-- include seen

local op, id = ARGV[3], ARGV[4]
local first = first_answer(op)
if first then return first end
mark_seen(string.match(ARGV[5], '^(%S+) (%d*)$'))
for _, inbound in ipairs(waiting()) do
  if id_of(inbound) == id then
    call('LREM', INBOX, 1, inbound)
    relent()
    rewake()
    sweep()
    return answer(op, {'withdrawn', inbound})
  end
end
return answer(op, {'elsewhere', is_part_of_turn(id) and turn_id()})
