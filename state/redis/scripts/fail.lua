-- Count an exception: back off with everything kept, or give the turn up and hand over.
-- KEYS[1-13]  the conversation; more after them, see more.lua
-- ARGV[3-]    operation, token, hand-over and changes, see changes.lua; the state is not written
-- own         error, microseconds to the retry ('' for none), exceptions allowed
-- Returns     gone | lost | retrying <attempts> | turnover <Turnover>

-- include clock
-- include room
-- include conversation
-- include gone
-- include turn
-- include changes
-- include write
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

if not turn or not held or token ~= lease_token then return first_answer(op) or {'lost'} end
local error, retry_in, limit = ARGV[own_at], tonumber(ARGV[own_at + 1]), tonumber(ARGV[own_at + 2])
local attempts = tonumber(call('HGET', TURN, 'attempts') or 0) + 1
local ended = ENDED_BY[pending()]
local again = retry_in and attempts < limit and not ended
if more ~= '' then
  -- include beside
  -- include more
  write_more(own_at + 3, again)
end
if again then
  local retry_at = int(now + retry_in)
  call('HSET', TURN, 'token', '', 'attempts', attempts, 'backing', retry_at)
  call('ZADD', WAKE, retry_at, name)
  return answer(op, {'retrying', attempts})
end
write()
if not ended then -- else the hand-over settles it, as that of a dead holder would
  bury(error)
  end_turn()
end
local started = next_turn(op, lease, patience)
sweep()
return answer(op, with_turnover({'turnover'}, started))
