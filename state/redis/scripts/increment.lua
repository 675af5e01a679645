-- Add to a counter.
-- KEYS[1-4], ARGV[2]  the key
-- ARGV[3]             microseconds that a new counter lasts, or '' for ever
-- ARGV[4-5]           amount, operation
-- Returns             gone | sum <number>

-- include clock
-- include key
-- include beside
-- include answers
-- include repeats

local op, window, sum = ARGV[5], tonumber(ARGV[3]), ARGV[4]
local first = first_answer(op)
if first then return first end
local kind, value, lasts = kept_under(KEY)
if kind == 'n' then
  sum = int(value + sum)
else
  lasts = window and now + window or 0
end
keep_value(KEY, BESIDE, name, lasts, 'n' .. sum)
return answer(op, {'sum', sum})
