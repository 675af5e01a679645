-- List the newest entries of a transcript, oldest first.
-- KEYS[1-9]  the conversation
-- ARGV[3]    number below which the entries lie, or ''
-- ARGV[4]    how many at most
-- Returns    history <number of the first entry> <payloads…>
-- Entries are numbered without gaps and only cut at the front, so the last number tells them all.

-- include clock
-- include conversation
-- include turn

local last, count = tonumber(call('HGET', KEPT, 'entries') or 0), call('LLEN', TRANSCRIPT)
local before, limit = tonumber(ARGV[3]) or last + 1, tonumber(ARGV[4])
local first = last - count + 1
local stop = math.min(before - 1, last)
local start = math.max(first, stop - limit + 1)
local reply = {'history', start}
if stop < start then return reply end
for _, payload in ipairs(call('LRANGE', TRANSCRIPT, start - first, stop - first)) do
  reply[#reply + 1] = payload
end
return reply
