-- End the turn and hand over, in one step.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3-4]   operation, the lease's token
-- ARGV[5-]    hand-over and changes, see changes.lua
-- then        '*' and the fields of the steps that this run asked for, or nothing
-- Returns     released | lost | drift <field, value…> | turnover <Turnover>

-- include clock
-- include conversation
-- include turn
-- include changes
-- include sweep

local op = ARGV[3]
local asked_at = 7 + entries

local function drift()
  local asked, found = {}, {'drift'}
  for i = asked_at + 1, #ARGV do asked[ARGV[i]] = true end
  for _, field in ipairs(call('HKEYS', TURN)) do
    if string.sub(field, 1, 2) == 'S:' and not asked[field] then
      found[#found + 1] = field
      found[#found + 1] = call('HGET', TURN, field)
    end
  end
  return #found > 1 and found or nil
end

local holding = held and token == ARGV[4]
local drifted = holding and ARGV[asked_at] == '*' and drift()
if drifted then return drifted end

-- The way of most turns: nobody signals and nothing waits. What follows would come to the same.
if holding and not signal then
  local some = call('EXISTS', INBOX, KEPT)
  if some == 0 or some == 1 and call('EXISTS', INBOX) == 0 then
    local keeps = some == 1 or version ~= '' or entries > 0
    if keeps then write() end
    call('DEL', TURN)
    call('ZREM', WAKE, name)
    turn = false
    if keeps then sweep() end
    call('SET', ANSWER, int(now) .. ' ' .. RELEASED, 'PX', int(OP_WINDOW / 1000))
    return {RELEASED}
  end
end

-- include number
-- include handover

if not holding then
  local first = first_answer()
  if first then return first end
  if began(op) then return with_turnover({'turnover'}, started_again(lease)) end
  return {'lost'}
end
write()
end_turn()
local started = next_turn(op, lease, patience)
local reply = with_turnover({'turnover'}, started)
-- A turn that starts needs no answer kept: the turn shows it.
if started and settled[1] == 0 then return reply end
sweep()
return answer(reply)
