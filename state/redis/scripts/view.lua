-- Show one conversation at one moment; change nothing.
-- KEYS[1-9]  the conversation
-- Returns    view <now> <live> <followed> <wake or nil> <dead letters> <count> <fields of the turn…> <inbounds…>

-- include clock
-- include conversation
-- include turn

local fields = call('HGETALL', TURN)
local reply = {
  'view', now, held and 1 or 0, call('ZSCORE', FOLLOWED, name) and 1 or 0,
  call('ZSCORE', WAKE, name), call('LLEN', DEAD), #fields,
}
for i = 1, #fields do reply[#reply + 1] = fields[i] end
for _, inbound in ipairs(call('LRANGE', INBOX, 0, -1)) do reply[#reply + 1] = inbound end
return reply
