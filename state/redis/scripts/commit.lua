-- End the turn and hand over, in one step.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3-5]   operation, lease and patience in microseconds (both '' to start nothing)
-- ARGV[6]     the lease's token
-- ARGV[7-]    changes: version ('' without a state), state, bound, count and entries of the transcript
-- then        '*' and the fields of the steps that this run asked for, or nothing
-- Returns     lost | drift <field, value…> | turnover <Turnover>
local op, lease = ARGV[3], tonumber(ARGV[4])
if not holds(ARGV[6]) then
  local first = first_answer()
  if first then return first end
  if began(op) then return with_turnover({'turnover'}, started_again(lease)) end
  return {'lost'}
end
local asked_at = 11 + tonumber(ARGV[10])
if ARGV[asked_at] == '*' then
  local asked, drift = {}, {'drift'}
  for i = asked_at + 1, #ARGV do asked[ARGV[i]] = true end
  for _, field in ipairs(call('HKEYS', TURN)) do
    if string.sub(field, 1, 2) == 'S:' and not asked[field] then
      extend(drift, {field, call('HGET', TURN, field)})
    end
  end
  if #drift > 1 then return drift end
end
write(7)
end_turn()
local started = next_turn(op, lease, tonumber(ARGV[5]))
local reply = with_turnover({'turnover'}, started)
-- A turn that starts needs no answer kept: the living lease shows it.
if started and settled[1] == 0 then return reply end
sweep()
return answer(reply)
