-- Show one conversation at one moment; change nothing.
-- KEYS[1-13]  the conversation
-- Returns     view <now> <live> <followed> <wake or nil> <dead letters> <count> <fields of the turn…> <inbounds…>

-- include clock
-- include conversation
-- include turn
-- include framing

local fields = turn and call('HGETALL', TURN) or {}
local reply = {
  'view', int(now), held and 1 or 0, call('ZSCORE', INDEX, 'f ' .. name) and 1 or 0,
  call('ZSCORE', WAKE, name), call('HLEN', DEAD), #fields,
}
return extend(extend(reply, fields), call('LRANGE', INBOX, 0, -1))
