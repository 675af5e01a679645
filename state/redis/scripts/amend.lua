-- Give one inbound a new payload, where it waits or where it is being answered.
-- KEYS[1-15]  the conversation, where the id of the edit is marked as seen
-- ARGV[3-4]   operation, channel of the hints
-- ARGV[5-8]   id of the inbound; id, author and payload of the edit
-- ARGV[9]     '<mark> <hour>' of the edit's id, see seen.lua
-- Returns     gone | amended | superseding <turn> | duplicate <turn or nil> | elsewhere <turn or nil>

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
-- include seen

local op, id, edit, author, payload = ARGV[3], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local first = first_answer(op)
if first then return first end
local runs = is_part_of_turn(id) -- before the mark: this fails over a turn that cannot be read
if not mark_seen(string.match(ARGV[9], '^(%S+) (%d*)$')) then
  return answer(op, {'duplicate', turn and turn_id()})
end
for place, inbound in ipairs(waiting()) do
  if id_of(inbound) == id then
    local at, held_back = string.match(inbound, '^(%d+) %S+ %S+ (%S+ %S+ %S+) ')
    call('LSET', INBOX, place - 1, table.concat({at, id, author, held_back, payload}, ' '))
    return answer(op, {'amended'})
  end
end
if not runs then return answer(op, {'elsewhere', false}) end
if call('HGET', TURN, 'pages') or ENDED_BY[pending()] then
  return answer(op, {'elsewhere', turn_id()})
end
local admitted = string.match(turn, '^%S+ %S+ (%d+)')
call('LPUSH', INBOX, table.concat({admitted, edit, author, 0, 0, id, payload}, ' '))
put_signal('supersede', author)
publish(ARGV[4])
return answer(op, {'superseding', turn_id()})
