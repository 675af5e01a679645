-- Take the conversation from the holder whose lease has one token.
-- KEYS[1-13]  the conversation
-- ARGV[3-5]   operation, lease and patience in microseconds
-- ARGV[6]     the token
-- Returns     gone | busy <microseconds> | turnover <Turnover>

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

local op = ARGV[3]
local first = first_answer(op)
if first then return first end
if token ~= ARGV[6] then
  return {'busy', int(math.max(held and expires or now, backing) - now)}
end
if turn then
  token = '' -- so that the hand-over counts no expiry
  call('HSET', TURN, 'token', '')
end
local started = next_turn(op, tonumber(ARGV[4]), tonumber(ARGV[5]))
sweep()
return answer(op, with_turnover({'turnover'}, started))
