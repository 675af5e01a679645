-- Leave nothing behind of an idle conversation: the transcript's numbering goes last.
local function sweep()
  if turn or token then return end
  local entries, state = unpack(call('HMGET', KEPT, 'entries', 'state'))
  local letters = call('EXISTS', DEAD)
  if entries and not state and letters == 0 and not call('ZSCORE', INDEX, 'f ' .. name)
      and call('EXISTS', INBOX, TRANSCRIPT, ALARMS, GIVEN) == 0 then
    call('DEL', KEPT)
    entries = false
  end
  if not entries and not state and letters == 0 then call('ZREM', INDEX, 'c ' .. name) end
end
