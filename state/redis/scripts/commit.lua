-- End the turn and hand over, in one step.
-- KEYS[1-13]  the conversation; more after them, see more.lua
-- ARGV[3-4]   operation, the lease's token
-- ARGV[5-]    hand-over and changes, see changes.lua
-- own         count of steps that this run asked for, or '' without a check; their fields
-- Returns     gone | lost | released | drift <field, value…> | turnover <Turnover>

-- include clock
-- include conversation
-- include turn
-- include changes
-- include sweep
-- include answers

local op = ARGV[3]
local holding = turn and held and token == ARGV[4]
local asked = tonumber(ARGV[own_at])

local function drift()
  local known, found = {}, {'drift'}
  for i = own_at + 1, own_at + asked do known[ARGV[i]] = true end
  for _, field in ipairs(call('HKEYS', TURN)) do
    if string.sub(field, 1, 2) == 'S:' and not known[field] then
      found[#found + 1] = field
      found[#found + 1] = call('HGET', TURN, field)
    end
  end
  return #found > 1 and found or nil
end

local some = call('EXISTS', INBOX, KEPT, ALARMS, GONE)
if some > 0 then
  -- include gone
end
local drifted = holding and asked and drift()
if drifted then return drifted end

-- The way of most turns: nobody signals, nothing waits and nothing is written beside. What follows
-- would come to the same.
if holding and not signal and more == '' and (some == 0 or some == call('EXISTS', KEPT, GONE)) then
  local keeps = some > 0 or version ~= '' or entries > 0
  if keeps then write() end
  call('DEL', TURN)
  call('ZREM', WAKE, name)
  local begun, number, begun_by = string.match(turn, '^%S+ %S+ %S+ (%d+) (%d+)%-(.*)$')
  turn, token = false, false
  if keeps then sweep() end
  local released = op .. ' ' .. int(now) .. ' ' .. RELEASED
  if begun_by and tonumber(begun) >= now - OP_WINDOW then
    local own = cmsgpack.pack({'own', number .. ' ' .. begun})
    keep_packed(begun_by .. ' ' .. begun .. ' ' .. own, released)
  else
    keep_packed(released)
  end
  return {'released'}
end

-- include number
-- include framing
-- include inbox
-- include alarms
-- include ring
-- include repeats
-- include handover

if not holding then return first_answer(op) or {'lost'} end
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
