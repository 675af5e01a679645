-- Record the result of a step; the first write wins.
-- KEYS[1-13]  the conversation
-- ARGV[3]     the lease's token
-- ARGV[4-5]   the step's field, its result
-- Returns     gone | lost | recorded <place and result>

-- include clock
-- include room
-- include conversation
-- include gone
-- include turn

if not turn or not held or token ~= ARGV[3] then return {'lost'} end
local recorded = call('HGET', TURN, ARGV[4])
if not recorded then
  recorded = call('HLEN', TURN) .. ' ' .. ARGV[5]
  call('HSET', TURN, ARGV[4], recorded, 'expiries', 0)
end
return {'recorded', recorded}
