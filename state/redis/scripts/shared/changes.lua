-- What the end of a turn writes, and how it hands over.

-- ARGV[5]  '<lease> <patience> <version> <keep> <entries>': microseconds, both empty to start nothing;
--          the version of ARGV[6], the new state, empty without one; how many entries the transcript
--          keeps, empty to leave it as it is; how many are appended, which are ARGV[7-]
local lease, patience, version, keep, entries = string.match(ARGV[5], '^(%-?%d*) (%-?%d*) (%-?%d*) (%-?%d*) (%d+)$')
lease, patience, keep, entries = tonumber(lease), tonumber(patience), tonumber(keep), tonumber(entries)

-- Write state and transcript. A conversation that was reset while its turn ran keeps nothing of it.
local function write()
  if detached or not keep then return end
  if version ~= '' then call('HSET', KEPT, 'version', version, 'state', ARGV[6]) end
  if entries > 0 then
    for i = 7, 6 + entries do call('RPUSH', TRANSCRIPT, ARGV[i]) end
    call('HINCRBY', KEPT, 'entries', entries)
  end
  if keep > 0 then
    call('LTRIM', TRANSCRIPT, -keep, -1)
  else
    call('DEL', TRANSCRIPT)
  end
end
