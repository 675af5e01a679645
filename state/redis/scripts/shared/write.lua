-- Write state and transcript, as changes.lua reads them. A conversation that was reset while its
-- turn ran keeps nothing of it.
local function write()
  if detached or not keep then return end
  if (version ~= '' or entries > 0) and call('EXISTS', KEPT) == 0 then
    call('ZADD', INDEX, 0, 'c ' .. name)
  end
  if version ~= '' then call('HSET', KEPT, 'version', version, 'state', ARGV[4]) end
  if entries > 0 then
    local number = call('HINCRBY', KEPT, 'entries', entries) - entries
    for i = 1, entries do call('RPUSH', TRANSCRIPT, int(number + i) .. ' ' .. ARGV[4 + i]) end
  end
  if keep > 0 then
    call('LTRIM', TRANSCRIPT, -keep, -1)
  else
    call('DEL', TRANSCRIPT)
  end
end
