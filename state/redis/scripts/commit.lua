-- End the turn and hand over, in one step.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3-5]   operation, lease and patience in microseconds (both '' to start nothing)
-- ARGV[6]     the lease's token
-- ARGV[7-]    changes: version ('' without a state), state, bound, count and entries of the transcript
-- then        '*' and the fields of the steps that this run asked for, or nothing
-- Returns     released | lost | drift <field, value…> | turnover <Turnover>

-- include clock
-- include conversation
-- include keeping

local op, lease = ARGV[3], tonumber(ARGV[4])
local asked_at = 11 + tonumber(ARGV[10])

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

local holding = holds(ARGV[6])
local drifted = holding and ARGV[asked_at] == '*' and drift()
if drifted then return drifted end

-- The way of most turns: nobody signals and nothing waits. What follows would come to the same.
if holding and not signal and call('EXISTS', INBOX) == 0 then
  write(7)
  call('DEL', TURN)
  call('ZREM', WAKE, name)
  turn = false
  sweep()
  keep_answer('released')
  return 'released'
end

-- include handover

if not holding then
  local first = first_answer()
  if first then return first end
  if began(op) then return with_turnover({'turnover'}, started_again(lease)) end
  return {'lost'}
end
write(7)
end_turn()
local started = next_turn(op, lease, tonumber(ARGV[5]))
local reply = with_turnover({'turnover'}, started)
-- A turn that starts needs no answer kept: the turn shows it.
if started and settled[1] == 0 then return reply end
sweep()
return answer(reply)
