-- Read a list.
-- KEYS[1-4], ARGV[2]  the key
-- Returns             gone | items <values…>

-- include clock
-- include key
-- include beside

local reply = {'items'}
if kept_under(KEY) ~= 'l' then return reply end
for i, item in ipairs(call('LRANGE', KEY, 1, -1)) do reply[i + 1] = item end
return reply
