-- Put the lead's waiting inbounds into a new turn in the place of this one.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3-5]   operation, lease and patience in microseconds
-- ARGV[6]     the lease's token
-- ARGV[7-]    changes, of which the transcript is written; see commit
-- then        '*' and what is handed on to the new turn, or nothing
-- Returns     lost | turnover <Turnover>

-- include clock
-- include conversation
-- include keeping
-- include handover

local op, lease = ARGV[3], tonumber(ARGV[4])
if not holds(ARGV[6]) then
  local first = first_answer()
  if first then return first end
  if began(op) then return with_turnover({'turnover'}, started_again(lease)) end
  return {'lost'}
end
local carry_at = 11 + tonumber(ARGV[10])
local carry = ARGV[carry_at] == '*' and ARGV[carry_at + 1]
local followups = tonumber(call('HGET', TURN, 'followups') or 0) + 1
write(7)
local moved = ENDED_BY[pending()] and {} or withdraw(lead())
end_turn()
if #moved > 0 then
  local admitted = string.match(moved[1], '^%d+')
  begin(string.match(moved[#moved], '^%d+ (%S+)'), moved, admitted, followups, carry)
end
local started = next_turn(op, lease, tonumber(ARGV[5]))
local reply = with_turnover({'turnover'}, started)
-- A turn that starts needs no answer kept: the living lease shows it.
if started and settled[1] == 0 then return reply end
sweep()
return answer(reply)
