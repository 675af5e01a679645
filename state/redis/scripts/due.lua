-- List what one partition wants looked at; change nothing.
-- KEYS[1-2]  the wake index, the signals
-- ARGV[2-3]  how many of each at most, microseconds ahead
-- Returns    <conversations> <signals>

-- include clock

local limit = tonumber(ARGV[2])
return {
  call('ZRANGEBYSCORE', KEYS[1], '-inf', int(now + tonumber(ARGV[3])), 'LIMIT', 0, limit),
  call('ZRANGE', KEYS[2], 0, limit - 1),
}
