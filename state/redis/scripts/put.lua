-- Write a value, whatever was there.
-- KEYS[1-4], ARGV[2]  the key
-- ARGV[3]             microseconds to live, or '' for ever
-- ARGV[4]             value
-- Returns             gone | put

-- include clock
-- include key
-- include beside

local ttl = tonumber(ARGV[3])
keep_value(KEY, BESIDE, name, ttl and now + ttl or 0, 'v' .. ARGV[4])
return {'put'}
