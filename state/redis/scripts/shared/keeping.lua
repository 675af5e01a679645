-- What a conversation keeps between its turns.

-- Write the changes that start at ARGV[at]: version and state, bound, count and entries of the
-- transcript. A conversation that was reset while its turn ran keeps nothing of that turn.
local function write(at)
  local version, state, keep, entries = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  if detached or not keep then return end
  if version ~= '' then call('HSET', KEPT, 'version', version, 'state', state) end
  if entries > 0 then
    for i = at + 4, at + 3 + entries do call('RPUSH', TRANSCRIPT, ARGV[i]) end
    call('HINCRBY', KEPT, 'entries', entries)
  end
  if keep > 0 then
    call('LTRIM', TRANSCRIPT, -keep, -1)
  else
    call('DEL', TRANSCRIPT)
  end
end

-- Leave nothing behind of an idle conversation: the transcript's numbering goes last.
local function sweep()
  if turn then return end
  local entries, state = unpack(call('HMGET', KEPT, 'entries', 'state'))
  if entries and not state and call('EXISTS', INBOX, TRANSCRIPT, DEAD) == 0
      and not call('ZSCORE', FOLLOWED, name) then
    call('DEL', KEPT)
  end
end
