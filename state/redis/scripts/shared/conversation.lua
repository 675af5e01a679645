-- One conversation and its partition's indexes, as every step about it sees them.
-- KEYS[1-9]  in the order of keys.py
-- KEYS[10]   the answer kept for this operation, where the step carries one
-- ARGV[2]    `<owner> <conversation>`, its name in the indexes
local TURN, INBOX, KEPT, TRANSCRIPT, DEAD, COUNTER, WAKE, SIGNALS, FOLLOWED, ANSWER = unpack(KEYS)
local name = ARGV[2]

-- `turn` is '<id> <lead> <admitted> <begun>'; `signal` is '<kind> <by>'.
local turn, token, expires, signal, backing, detached = unpack(
  call('HMGET', TURN, 'turn', 'token', 'expires', 'signal', 'backing', 'detached'))
expires, backing = tonumber(expires or 0), tonumber(backing or 0)
local held = token and token ~= '' and expires > now

local function holds(lease)
  return turn and held and token == lease
end

-- A place in the order of what one turn recorded. Fields are only ever added to a turn's hash, so
-- its length grows with each of them.
local function place_in_turn()
  return call('HLEN', TURN)
end

-- Tokens and order: the partition's next number, seeded by the clock so that a restored copy of the
-- store cannot hand it out twice.
local function draw_number()
  local number = int(math.max((call('GET', COUNTER) or 0) + 1, now))
  call('SET', COUNTER, number)
  return number
end

-- What is kept of the conversation between turns.
local function kept_state()
  local kept = call('HMGET', KEPT, 'state', 'version')
  return kept[1], kept[2]
end

-- Keep the answer of this operation for its repeats.
local function keep_answer(reply)
  call('SET', ANSWER, int(now) .. ' ' .. cmsgpack.pack(reply), 'PX', int(OP_WINDOW / 1000))
end
