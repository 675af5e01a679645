-- Leave nothing behind of an idle conversation: the transcript's numbering goes last.
local function sweep()
  if turn then return end
  local entries, state = unpack(call('HMGET', KEPT, 'entries', 'state'))
  if entries and not state and call('EXISTS', INBOX, TRANSCRIPT, DEAD) == 0
      and not call('ZSCORE', FOLLOWED, name) then
    call('DEL', KEPT)
  end
end
