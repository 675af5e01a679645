-- Record the id of the message that a page became.
-- KEYS[1-13]  the conversation
-- ARGV[3]     the lease's token
-- ARGV[4]     `<number>:<issue>`
-- ARGV[5]     message id
-- Returns     gone | lost | posted

-- include clock
-- include room
-- include conversation
-- include gone
-- include turn

if not turn or not held or token ~= ARGV[3] then return {'lost'} end
if call('HEXISTS', TURN, 'P:' .. ARGV[4]) == 0 then
  call('HSET', TURN, 'P:' .. ARGV[4], call('HLEN', TURN) .. ' ', 'pages', 1)
end
call('HSET', TURN, 'M:' .. ARGV[4], ARGV[5])
return {'posted'}
