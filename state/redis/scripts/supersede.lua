-- Put the lead's waiting inbounds into a new turn in the place of this one.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3-4]   operation, the lease's token
-- ARGV[5-]    hand-over and changes, see changes.lua; its state is not written
-- then        '*' and what is handed on to the new turn, or nothing
-- Returns     lost | turnover <Turnover>

-- include clock
-- include conversation
-- include turn
-- include changes
-- include sweep
-- include number
-- include handover

local op = ARGV[3]
if not held or token ~= ARGV[4] then
  local first = first_answer()
  if first then return first end
  if began(op) then return with_turnover({'turnover'}, started_again(lease)) end
  return {'lost'}
end
local carry_at = 7 + entries
local carry = ARGV[carry_at] == '*' and ARGV[carry_at + 1]
local followups = tonumber(call('HGET', TURN, 'followups') or 0) + 1
write()
local moved = ENDED_BY[pending()] and {} or withdraw(lead())
end_turn()
if #moved > 0 then
  local admitted = string.match(moved[1], '^%d+')
  begin(string.match(moved[#moved], '^%d+ (%S+)'), moved, admitted, followups, carry)
end
local started = next_turn(op, lease, patience)
local reply = with_turnover({'turnover'}, started)
-- A turn that starts needs no answer kept: the living lease shows it.
if started and settled[1] == 0 then return reply end
sweep()
return answer(reply)
