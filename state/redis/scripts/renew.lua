-- Prolong leases of one partition, or take them from a holder for whom the store has gone back.
-- KEYS[1-3]  the wake index, what is being forgotten, how far the caller came with its renewals
-- KEYS[4-]   the turns
-- ARGV[2]    microseconds from now
-- ARGV[3]    how far the caller thinks it came
-- ARGV[4-]   for each turn, name in the index and token
-- Returns    how far it came now, 0 when the store knows less; for each turn 0 for a lease that is
--            lost, its signal, or nil for none

-- include clock
-- include room

local wake, gone, beat, prolonged = KEYS[1], KEYS[2], KEYS[3], int(now + tonumber(ARGV[2]))
local known, came = tonumber(call('GET', beat) or 0), tonumber(ARGV[3])
local went_back = known < came
local number = went_back and 0 or math.max(known, came) + 1
local forgetting = call('EXISTS', gone) == 1
local reply = {number}
-- One that has gone back is not brought up to date here: other calls with the rest of the caller's
-- leases are to meet the same.
if not went_back then call('SET', beat, number, 'PX', BEAT_WINDOW_MS) end

local function forgotten(name)
  if not forgetting then return false end
  local found = call('HMGET', gone, 'gone c ' .. name, 'gone o ' .. string.match(name, '^%S+'))
  return found[1] or found[2]
end

for i = 4, #KEYS do
  local name, lease, answer = ARGV[2 * i - 4], ARGV[2 * i - 3], i - 2
  -- One that cannot be read loses its own lease alone.
  local token, expires, signal, turn =
    unpack(redis.pcall('HMGET', KEYS[i], 'token', 'expires', 'signal', 'turn'))
  local holds = token == lease and (tonumber(expires) or 0) > now and not forgotten(name)
  reply[answer] = 0
  if holds and went_back then
    -- No expiry is counted of a turn whose token is gone.
    call('HSET', KEYS[i], 'expires', int(now), 'token', turn and '' or token)
    call('ZADD', wake, int(now), name)
  elseif holds then
    call('HSET', KEYS[i], 'expires', prolonged)
    call('ZADD', wake, prolonged, name)
    reply[answer] = signal ~= '' and signal
  end
end
return reply
