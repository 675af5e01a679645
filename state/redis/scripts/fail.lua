-- Count an exception: back off with everything kept, or give the turn up and hand over.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3-4]   operation, the lease's token
-- ARGV[5-]    hand-over and changes, see changes.lua; its state is not written
-- then        error, microseconds to the retry ('' for none), exceptions allowed
-- Returns     lost | retrying <attempts> | turnover <Turnover>

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
local error_at = 7 + entries
local error, retry_in, limit = ARGV[error_at], tonumber(ARGV[error_at + 1]), tonumber(ARGV[error_at + 2])
local attempts = tonumber(call('HGET', TURN, 'attempts') or 0) + 1
if retry_in and attempts < limit then
  local retry_at = int(now + retry_in)
  call('HSET', TURN, 'token', '', 'attempts', attempts, 'backing', retry_at)
  call('ZADD', WAKE, retry_at, name)
  return answer({'retrying', attempts})
end
write()
bury(error)
end_turn()
local started = next_turn(op, lease, patience)
local reply = with_turnover({'turnover'}, started)
-- A turn that starts needs no answer kept: the living lease shows it.
if started and settled[1] == 0 then return reply end
sweep()
return answer(reply)
