-- Ask to identify: one is granted per bucket and interval.
-- KEYS[1]  the bucket's gate: when the next is granted
-- ARGV[2]  microseconds between two
-- Returns  microseconds to wait, 0 when it is granted

-- include clock

local free = tonumber(call('GET', KEYS[1]) or 0)
if free > now then return int(free - now) end
call('SET', KEYS[1], int(now + ARGV[2]), 'PX', int(math.max(ARGV[2] / 1000, 1) + 1000))
return 0
