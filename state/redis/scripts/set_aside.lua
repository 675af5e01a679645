-- Make dead letters of what cannot be read of one conversation, and let the rest go on.
-- KEYS[1-13]  the conversation
-- Returns     aside <how many>

-- include clock
-- include room
-- include conversation
-- include framing
-- include letters

local found = 0

local function aside(what, raw)
  found = found + 1
  set_aside(what, raw)
end

-- Whether a key has its type; one of another is set aside.
local function typed(key, what, wanted)
  local kind = call('TYPE', key).ok
  if kind ~= wanted and kind ~= 'none' then
    found = found + 1
    set_aside_key(what, key)
  end
  return kind == wanted
end

-- --- dead letters first, since all others become some --------------------------------------------

-- As `unframed`, but nil for what `framed` never wrote.
local function parts_of(text)
  local strings, at = {}, 1
  while at <= #text do
    local size, start = string.match(text, '^(%d+):()', at)
    if not size or start + size - 1 > #text then return nil end
    strings[#strings + 1] = string.sub(text, start, start + size - 1)
    at = start + size
  end
  return strings
end

local function are_inbounds(text)
  local inbounds = parts_of(text)
  for _, inbound in ipairs(inbounds or {}) do
    if not string.find(inbound, INBOUND) then return false end
  end
  return inbounds ~= nil
end

local function is_letter(parts)
  return parts and #parts >= 4 and tonumber(parts[1]) and are_inbounds(parts[4])
end

local letters = typed(DEAD, 'set of dead letters', 'hash') and call('HGETALL', DEAD) or {}
for i = 1, #letters, 2 do
  if not is_letter(parts_of(letters[i + 1])) then
    call('HDEL', DEAD, letters[i])
    if string.find(letters[i], '%d$') then call('ZREM', INDEX, letter_index(letters[i])) end
    aside('dead letter', letters[i + 1])
  end
end

-- --- the turn ------------------------------------------------------------------------------------

local function is_signal(value)
  local kind = string.match(value, '^(%l+) ')
  return value == '' or kind == 'supersede' or kind == 'stop' or kind == 'kill'
end

-- Not what Lua takes for a number: nan, or more than Redis counts to.
local function is_count(value)
  return string.find(value, '^%-?%d+$') and #value < 19
end

local IS_FIELD = {
  turn = function(value) return string.find(value, '^[%w_./@:-]+ [%w_./@:-]+ %d+ %d+ %S+$') end,
  inbounds = function(value) return value ~= '' and are_inbounds(value) end,
  token = function(value) return string.find(value, '^[%w_./@:-]*$') end,
  signal = is_signal, expires = is_count, backing = is_count, attempts = is_count,
  followups = is_count, expiries = is_count,
}

local function is_recorded(field, value)
  local kind = string.match(field, '^([STPM]):')
  if kind == 'M' then return string.find(field, '^M:%d+:%d+$') and string.find(value, '^[\32-\126]*$') end
  if kind == 'P' then return string.find(field, '^P:%d+:%d+$') and string.find(value, '^%d+ ') end
  if kind == 'S' then return string.find(field, '^S:%d+:') and string.find(value, '^%d+ ') end
  local taken = kind and string.match(value, '^%d+ (.*)$')
  return not kind or (taken and are_inbounds(taken))
end

local function is_turn(fields)
  local has = {}
  for i = 1, #fields, 2 do
    local field, value = fields[i], fields[i + 1]
    has[field] = true
    if IS_FIELD[field] and not IS_FIELD[field](value) then return false end
    if not is_recorded(field, value) then return false end
  end
  return has.expires and has.turn == has.inbounds
end

if typed(TURN, 'turn', 'hash') then
  local fields = call('HGETALL', TURN)
  if not is_turn(fields) then
    call('DEL', TURN)
    aside('turn', framed(fields))
  end
end
if call('EXISTS', TURN) == 0 then
  for _, member in ipairs(call('ZRANGE', SIGNALS, 0, -1)) do
    if string.sub(member, 1, #name + 1) == name .. ' ' then call('ZREM', SIGNALS, member) end
  end
end

-- --- what is kept --------------------------------------------------------------------------------

local function is_answer(entry)
  local packed = string.match(entry, '^%S+ %d+ (.*)$')
  if not packed or string.sub(packed, 1, 1) == '=' then return packed end
  local read, reply = pcall(cmsgpack.unpack, packed)
  return read and type(reply) == 'table'
end

for _, kept in ipairs({
  {TRANSCRIPT, 'line of the transcript', function(line) return string.find(line, '^%d+ %S+ ') end},
  {ANSWERS, 'answer', is_answer},
}) do
  local key, what, reads = unpack(kept)
  for _, entry in ipairs(typed(key, what, 'list') and call('LRANGE', key, 0, -1) or {}) do
    if not reads(entry) then
      call('LREM', key, 1, entry)
      aside(what, entry)
    end
  end
end

local given = typed(GIVEN, 'given answer', 'hash') and call('HGETALL', GIVEN) or {}
for i = 1, #given, 2 do
  if not string.find(given[i + 1], '^%d+ ') then
    call('HDEL', GIVEN, given[i])
    aside('given answer', given[i + 1])
  end
end

if typed(KEPT, 'state', 'hash') then
  local entries, version = unpack(call('HMGET', KEPT, 'entries', 'version'))
  if (entries and not is_count(entries)) or (version and not is_count(version)) then
    local content = framed(call('HGETALL', KEPT))
    call('DEL', KEPT)
    aside('state', content)
  end
end

-- include turn
-- include sweep
-- include inbox

-- What waits and the timers are set aside by who reads them.
local before = call('HLEN', DEAD)
waiting()
timers()
found = found + call('HLEN', DEAD) - before

if found > 0 then
  call('DEL', ANSWERS) -- the repeat of this step would be shown the same again
  rewake()
  sweep()
end
return {'aside', found}
