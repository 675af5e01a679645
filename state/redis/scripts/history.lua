-- List the newest entries of a transcript, '<number> <author or *> <payload>', oldest first.
-- KEYS[1-13]  the conversation
-- ARGV[3]     number below which the entries lie, or ''
-- ARGV[4]     how many at most
-- Returns     history <entries…>

-- include clock
-- include conversation

local before, limit = tonumber(ARGV[3]), tonumber(ARGV[4])
local reply = {'history'}
if limit <= 0 then return reply end
local entries = call('LRANGE', TRANSCRIPT, before and 0 or -limit, -1)
local stop = #entries
while before and stop > 0 and tonumber(string.match(entries[stop], '^%d+')) >= before do
  stop = stop - 1
end
for i = math.max(1, stop - limit + 1), stop do reply[#reply + 1] = entries[i] end
return reply
