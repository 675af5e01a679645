-- Write a value if there is none.
-- KEYS[1-4], ARGV[2]  the key
-- ARGV[3]             microseconds to live, or '' for ever
-- ARGV[4-5]           value, operation
-- Returns             gone | put <1 or 0>

-- include clock
-- include key
-- include beside
-- include answers
-- include repeats

local op, ttl = ARGV[5], tonumber(ARGV[3])
local first = first_answer(op)
if first then return first end
if kept_under(KEY) then return answer(op, {'put', 0}) end
keep_value(KEY, BESIDE, name, ttl and now + ttl or 0, 'v' .. ARGV[4])
return answer(op, {'put', 1})
