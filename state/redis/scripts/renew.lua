-- Prolong leases of one partition.
-- KEYS[1]   the wake index
-- KEYS[2-]  the turns
-- ARGV[2]   microseconds from now
-- ARGV[3-]  for each turn, name in the index and token
-- Returns   for each turn: 0 for a lease that is lost, its signal, or nil for none

-- include clock

local wake, prolonged, reply = KEYS[1], int(now + tonumber(ARGV[2])), {}
for i = 2, #KEYS do
  local name, lease = ARGV[2 * i - 1], ARGV[2 * i]
  local token, expires, signal = unpack(call('HMGET', KEYS[i], 'token', 'expires', 'signal'))
  if token == lease and tonumber(expires) > now then
    call('HSET', KEYS[i], 'expires', prolonged)
    call('ZADD', wake, prolonged, name)
    reply[i - 1] = signal
  else
    reply[i - 1] = 0
  end
end
return reply
