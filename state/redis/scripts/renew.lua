-- Prolong leases of one partition.
-- KEYS[1-2]  the wake index, what is being forgotten
-- KEYS[3-]   the turns
-- ARGV[2]    microseconds from now
-- ARGV[3-]   for each turn, name in the index and token
-- Returns    for each turn: 0 for a lease that is lost, its signal, or nil for none

-- include clock
-- include room

local wake, gone, prolonged, reply = KEYS[1], KEYS[2], int(now + tonumber(ARGV[2])), {}
local forgetting = call('EXISTS', gone) == 1

local function forgotten(name)
  if not forgetting then return false end
  local found = call('HMGET', gone, 'gone c ' .. name, 'gone o ' .. string.match(name, '^%S+'))
  return found[1] or found[2]
end

for i = 3, #KEYS do
  local name, lease = ARGV[2 * i - 3], ARGV[2 * i - 2]
  -- One that cannot be read loses its own lease alone.
  local token, expires, signal = unpack(redis.pcall('HMGET', KEYS[i], 'token', 'expires', 'signal'))
  if token == lease and (tonumber(expires) or 0) > now and not forgotten(name) then
    call('HSET', KEYS[i], 'expires', prolonged)
    call('ZADD', wake, prolonged, name)
    reply[i - 2] = signal ~= '' and signal
  else
    reply[i - 2] = 0
  end
end
return reply
