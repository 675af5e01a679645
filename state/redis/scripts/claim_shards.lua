-- Take a range of shards, if nobody holds it.
-- KEYS[1-2]  the range, the answers kept for operations on it
-- ARGV[2-3]  operation, microseconds
-- Returns    busy <expires, milliseconds> <now> | claimed <epoch> <token> <expires, milliseconds>

-- include clock
local ANSWERS = KEYS[2]
-- include answers
-- include repeats

local op = ARGV[2]
local first = first_answer(op)
if first then return first end
local epoch, token, expires = unpack(call('HMGET', KEYS[1], 'epoch', 'token', 'expires'))
if token and token ~= '' and tonumber(expires) > math.floor(now / 1000) then
  return {'busy', expires, int(now)}
end
epoch = int((epoch or 0) + 1)
token, expires = epoch .. '-' .. op, int(math.floor((now + ARGV[3]) / 1000))
call('HSET', KEYS[1], 'epoch', epoch, 'token', token, 'expires', expires)
return answer(op, {'claimed', epoch, token, expires})
