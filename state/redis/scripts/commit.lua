-- End the turn and hand over, in one step.
-- KEYS[1-13]  the conversation; more after them, see more.lua
-- ARGV[3-]    operation, token, hand-over and changes, see changes.lua
-- own         count of steps that this run asked for, or '' without a check; their fields
-- Returns     gone | lost | released | drift <field, value…> | turnover <Turnover>

-- include clock
-- include conversation
-- include turn
-- include changes
-- include answers

local holding = turn and held and token == lease_token
local asked = tonumber(ARGV[own_at])

local some = call('EXISTS', INBOX, KEPT, ALARMS, GONE)
if some > 0 then
  -- include gone
end

if holding and asked then
  local known, drift = {}, {'drift'}
  for i = own_at + 1, own_at + asked do known[ARGV[i]] = true end
  for _, field in ipairs(call('HKEYS', TURN)) do
    if string.sub(field, 1, 2) == 'S:' and not known[field] then
      drift[#drift + 1] = field
      drift[#drift + 1] = call('HGET', TURN, field)
    end
  end
  if #drift > 1 then return drift end
end

-- The way of most turns: nobody signals, nothing waits and nothing is written beside. What follows
-- would come to the same.
if holding and not signal and more == '' and (some == 0 or some == call('EXISTS', KEPT, GONE)) then
  local writes = some > 0 or version ~= '' or entries > 0
  if writes then -- first, since it may break off over what it finds: the turn is there to be repeated
    -- include room
    -- include write
    write()
  end
  call('DEL', TURN)
  call('ZREM', WAKE, name)
  local released = op .. ' ' .. int(now) .. ' =released'
  local begun, number, begun_by = string.match(turn, '^%S+ %S+ %S+ (%d+) (%d+)%-(.*)$')
  if begun_by and tonumber(begun) >= now - OP_WINDOW then
    keep_answers(begun_by .. ' ' .. begun .. ' =' .. number .. ' ' .. begun, released)
  else
    keep_answers(released)
  end
  turn, token = false, false
  if writes then
    -- include sweep
    sweep()
  end
  return 'released'
end

-- include write
-- include sweep
-- include number
-- include framing
-- include letters
-- include inbox
-- include alarms
-- include ring
-- include repeats
-- include handover

if not holding then return first_answer(op) or {'lost'} end
-- include room
if more ~= '' then
  -- include beside
  -- include more
  write_more(own_at + 1 + (asked or 0))
end
write()
end_turn()
local started = next_turn(op, lease, patience)
sweep()
return answer(op, with_turnover({'turnover'}, started))
