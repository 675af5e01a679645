-- Hold a conversation without a turn.
-- KEYS[1-13]  the conversation
-- ARGV[3-4]   operation, lease in microseconds
-- Returns     gone | busy <microseconds> | acquired <token> <expires>

-- include clock
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
if held or turn then
  return {'busy', int(math.max(held and expires or now, backing) - now)}
end
token, expires = draw_number(int(now)) .. '-' .. op, int(now + ARGV[4])
call('HSET', TURN, 'token', token, 'expires', expires)
call('ZADD', WAKE, expires, name)
return answer(op, {'acquired', token, expires})
