-- Append to a list, cut it to its newest, refresh its time to live.
-- KEYS[1-4], ARGV[2]  the key
-- ARGV[3]             microseconds to live, or '' for ever
-- ARGV[4-6]           value, operation, how many are kept
-- Returns             gone | length <number>

-- include clock
-- include key
-- include beside
-- include answers
-- include repeats

local op, ttl, most = ARGV[5], tonumber(ARGV[3]), tonumber(ARGV[6])
local first = first_answer(op)
if first then return first end
local lasts = ttl and now + ttl or 0
if kept_under(KEY) == 'l' then
  call('LPOP', KEY)
else
  call('DEL', KEY)
end
call('RPUSH', KEY, ARGV[4])
if most > 0 then call('LTRIM', KEY, -most, -1) else call('DEL', KEY) end
local length = call('LLEN', KEY)
call('LPUSH', KEY, int(lasts))
call('PERSIST', KEY)
expire_at(KEY, lasts)
note(BESIDE, name, lasts)
return answer(op, {'length', length})
