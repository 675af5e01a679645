-- Record the intent to send a page; the first write wins.
-- KEYS[1-13]  the conversation
-- ARGV[3]     the lease's token
-- ARGV[4]     `<number>:<issue>`
-- ARGV[5]     intent
-- Returns     gone | lost | page <place and intent> <message id or nil>

-- include clock
-- include room
-- include conversation
-- include gone
-- include turn

if not turn or not held or token ~= ARGV[3] then return {'lost'} end
local intent, message = unpack(call('HMGET', TURN, 'P:' .. ARGV[4], 'M:' .. ARGV[4]))
if not intent then
  intent = call('HLEN', TURN) .. ' ' .. ARGV[5]
  call('HSET', TURN, 'P:' .. ARGV[4], intent, 'pages', 1)
end
return {'page', intent, message}
