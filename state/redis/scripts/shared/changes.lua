-- What the end of a turn writes, and how it hands over.
-- ARGV[5]   '<lease> <patience> <version> <keep> <entries>': microseconds, both empty to start
--           nothing; the version of ARGV[6], the new state, empty without one; how many entries the
--           transcript keeps, empty to write nothing at all; how many are appended.
--           ' <answers> <timers off> <timers on> <puts> <usage>' if there is more: how many of each
-- ARGV[6]   state
-- ARGV[7-]  entries, '<author or *> <payload>'; what the step itself takes; what more.lua reads
local lease, patience, version, keep, entries, more =
  string.match(ARGV[5], '^(%-?%d*) (%-?%d*) (%-?%d*) (%-?%d*) (%d+)(.*)$')
lease, patience, keep, entries = tonumber(lease), tonumber(patience), tonumber(keep), tonumber(entries)
local own_at = 7 + entries

-- Write state and transcript. A conversation that was reset while its turn ran keeps nothing of it.
local function write()
  if detached or not keep then return end
  if (version ~= '' or entries > 0) and call('EXISTS', KEPT) == 0 then
    call('ZADD', INDEX, 0, 'c ' .. name)
  end
  if version ~= '' then call('HSET', KEPT, 'version', version, 'state', ARGV[6]) end
  if entries > 0 then
    local number = call('HINCRBY', KEPT, 'entries', entries) - entries
    for i = 1, entries do call('RPUSH', TRANSCRIPT, int(number + i) .. ' ' .. ARGV[6 + i]) end
  end
  if keep > 0 then
    call('LTRIM', TRANSCRIPT, -keep, -1)
  else
    call('DEL', TRANSCRIPT)
  end
end
