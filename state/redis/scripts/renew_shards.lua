-- Prolong the lease on a range of shards, or give it back; its epoch is remembered.
-- KEYS[1]    the range
-- ARGV[2-3]  token, microseconds from now or '' to give it back
-- Returns    1, or 0 when it is not held by that token

-- include clock
-- include room

local token, expires = unpack(call('HMGET', KEYS[1], 'token', 'expires'))
if token ~= ARGV[2] or tonumber(expires) <= math.floor(now / 1000) then return 0 end
if ARGV[3] == '' then
  call('HSET', KEYS[1], 'token', '', 'expires', 0)
else
  call('HSET', KEYS[1], 'expires', int(math.floor((now + ARGV[3]) / 1000)))
end
return 1
