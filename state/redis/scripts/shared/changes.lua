-- What the end of a turn writes, and how it hands over.
-- ARGV[3]   '<operation> <token> <lease> <patience> <version> <keep> <entries>': microseconds, both
--           empty to start nothing; the version of ARGV[4], the new state, empty without one; how
--           many entries the transcript keeps, empty to write nothing at all; how many are appended.
--           ' <answers> <timers off> <timers on> <puts> <usage>' if there is more: how many of each
-- ARGV[4]   state
-- ARGV[5-]  entries, '<author or *> <payload>'; what the step itself takes; what more.lua reads
local op, lease_token, lease, patience, version, keep, entries, more = string.match(
  ARGV[3], '^(%S+) (%S+) (%-?%d*) (%-?%d*) (%-?%d*) (%-?%d*) (%d+)(.*)$')
lease, patience, keep, entries = tonumber(lease), tonumber(patience), tonumber(keep), tonumber(entries)
local own_at = 5 + entries
