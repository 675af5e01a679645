-- Move what waits into the running turn, recorded under a key.
-- KEYS[1-13]  the conversation
-- ARGV[3]     the lease's token
-- ARGV[4]     key
-- ARGV[5]     author, or '' for everybody
-- Returns     gone | lost | taken <place and framed inbounds>

-- include clock
-- include room
-- include conversation
-- include gone
-- include turn
-- include sweep
-- include answers
-- include number
-- include framing
-- include letters
-- include inbox
-- include alarms
-- include ring
-- include repeats
-- include handover

if not turn or not held or token ~= ARGV[3] then return {'lost'} end
local field = 'T:' .. ARGV[4]
local taken = call('HGET', TURN, field)
if not taken then
  local gone = withdraw(ARGV[5] ~= '' and ARGV[5] or nil)
  taken = call('HLEN', TURN) .. ' ' .. framed(gone)
  local others = call('HGET', TURN, 'others')
  local authors = authors_of(gone, 1)
  call('HSET', TURN, field, taken, 'others', others and others .. ' ' .. authors or authors)
  relent()
end
return {'taken', taken}
