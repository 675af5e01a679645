-- Drop answers that are out of their window.
local function prune_given()
  local all = call('HGETALL', GIVEN)
  for i = 1, #all, 2 do
    if tonumber(string.match(all[i + 1], '^%d+')) < now - ANSWER_WINDOW then call('HDEL', GIVEN, all[i]) end
  end
end

-- Leave nothing behind of an idle conversation: the transcript's numbering goes last.
local function sweep()
  if turn or token then return end
  prune_given()
  local entries, state = unpack(call('HMGET', KEPT, 'entries', 'state'))
  local letters = call('EXISTS', DEAD)
  if entries and not state and letters == 0 and not call('ZSCORE', INDEX, 'f ' .. name)
      and call('EXISTS', INBOX, TRANSCRIPT, ALARMS, GIVEN) == 0 then
    call('DEL', KEPT)
    entries = false
  end
  if not entries and not state and letters == 0 then call('ZREM', INDEX, 'c ' .. name) end
end
