-- Count an exception: back off with everything kept, or give the turn up and hand over.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3-5]   operation, lease and patience in microseconds (both '' to start nothing)
-- ARGV[6]     the lease's token
-- ARGV[7-]    changes, of which the transcript is written; see commit
-- then        error, microseconds to the retry ('' for none), exceptions allowed
-- Returns     lost | retrying <attempts> | turnover <Turnover>

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
local error_at = 11 + tonumber(ARGV[10])
local error, retry_in, limit = ARGV[error_at], tonumber(ARGV[error_at + 1]), tonumber(ARGV[error_at + 2])
local attempts = tonumber(call('HGET', TURN, 'attempts') or 0) + 1
if retry_in and attempts < limit then
  local retry_at = int(now + retry_in)
  call('HSET', TURN, 'token', '', 'attempts', attempts, 'backing', retry_at)
  call('ZADD', WAKE, retry_at, name)
  return answer({'retrying', attempts})
end
write(7)
bury(error)
end_turn()
local started = next_turn(op, lease, tonumber(ARGV[5]))
local reply = with_turnover({'turnover'}, started)
-- A turn that starts needs no answer kept: the living lease shows it.
if started and settled[1] == 0 then return reply end
sweep()
return answer(reply)
