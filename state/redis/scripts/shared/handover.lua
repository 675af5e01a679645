-- Who speaks next: what admit, claim, supersede, commit, fail, signal and kill have in common.
-- An inbound in the inbox is '<admitted> <id> <author> <payload>'.

local RANK = {supersede = 1, stop = 2, kill = 3}
local ENDED_BY = {stop = 'stopped', kill = 'killed'}

-- Everything settled on the way, flat: a count, then outcome, kind, length and items of each.
local settled = {0}

local function settle(outcome, kind, items)
  settled[1] = settled[1] + 1
  local at = #settled
  settled[at + 1], settled[at + 2], settled[at + 3] = outcome, kind, #items
  for i = 1, #items do settled[at + 3 + i] = items[i] end
end

-- Append the items of a list to a flat reply.
local function extend(reply, items)
  local at = #reply
  for i = 1, #items do reply[at + i] = items[i] end
  return reply
end

local function author_of(inbound)
  return string.match(inbound, '^%d+ %S+ (%S+) ')
end

local function pending()
  return signal and string.match(signal, '^%S+')
end

local function turn_id()
  return string.match(turn, '^%S+')
end

local function lead()
  return string.match(turn, '^%S+ (%S+)')
end

-- --- answers that a repeat gets ------------------------------------------------------------------

local function first_answer()
  local kept = call('GET', ANSWER)
  if not kept then return nil end
  local gap = string.find(kept, ' ', 1, true)
  if tonumber(string.sub(kept, 1, gap - 1)) < now - OP_WINDOW then return nil end
  local reply = string.sub(kept, gap + 1)
  return reply == RELEASED and {reply} or cmsgpack.unpack(reply)
end

local function answer(reply)
  call('SET', ANSWER, int(now) .. ' ' .. cmsgpack.pack(reply), 'PX', int(OP_WINDOW / 1000))
  return reply
end

-- Whether operation `op` began the turn and nobody took it up since: the turn shows its answer.
local function began(op)
  if not turn or not token or string.match(token, '^%d+%-(.*)$') ~= op then return false end
  return tonumber(string.match(turn, '(%d+)$')) >= now - OP_WINDOW
end

-- --- signals -------------------------------------------------------------------------------------

local function in_index()
  return name .. ' ' .. turn_id() .. ' ' .. signal
end

local function put_signal(kind, by)
  if signal then call('ZREM', SIGNALS, in_index()) end
  signal = kind .. ' ' .. by
  call('HSET', TURN, 'signal', signal)
  call('ZADD', SIGNALS, int(now), in_index())
end

local function request(kind, by)
  if not signal or RANK[kind] > RANK[pending()] then put_signal(kind, by) end
end

local function publish(channel)
  if turn and signal then call('PUBLISH', channel, in_index()) end
end

-- --- the inbox -----------------------------------------------------------------------------------

-- Remove what `author` (or anybody, when nil) has waiting; answer it, oldest first.
local function withdraw(author)
  local waiting = call('LRANGE', INBOX, 0, -1)
  if not author then
    call('DEL', INBOX)
    return waiting
  end
  local gone = {}
  for _, inbound in ipairs(waiting) do
    if author_of(inbound) == author then
      gone[#gone + 1] = inbound
      call('LREM', INBOX, 1, inbound)
    end
  end
  return gone
end

local function expire(oldest)
  local gone = {}
  local head = call('LINDEX', INBOX, 0)
  while head and tonumber(string.match(head, '^%d+')) < oldest do
    gone[#gone + 1] = call('LPOP', INBOX)
    head = call('LINDEX', INBOX, 0)
  end
  if #gone > 0 then settle('expired', 'inbox', gone) end
end

local function framed(inbounds)
  local parts = {}
  for i, inbound in ipairs(inbounds) do parts[i] = #inbound .. ':' .. inbound end
  return table.concat(parts)
end

local function authors_of(inbounds, first)
  local parts = {}
  for i = first, #inbounds do parts[#parts + 1] = author_of(inbounds[i]) end
  return table.concat(parts, ' ')
end

-- --- the turn ------------------------------------------------------------------------------------

-- Make a turn of `inbounds`; answer its fields, as a Started shows them.
local function begin(id, inbounds, admitted, followups, carry)
  turn = table.concat({id, author_of(inbounds[1]), admitted, int(now)}, ' ')
  token, signal, backing, detached = false, false, 0, false
  local fields = {'turn', turn, 'inbounds', framed(inbounds)}
  if #inbounds > 1 then extend(fields, {'others', authors_of(inbounds, 2)}) end
  if followups then extend(fields, {'followups', followups}) end
  if carry then extend(fields, {'carry', carry}) end
  call('HSET', TURN, unpack(fields))
  return fields
end

local function end_turn()
  if signal then call('ZREM', SIGNALS, in_index()) end
  call('DEL', TURN)
  turn, token, signal, detached, held, backing = false, false, false, false, false, 0
end

local function includes(author)
  if lead() == author then return true end
  local others = call('HGET', TURN, 'others')
  return others and string.find(' ' .. others .. ' ', ' ' .. author .. ' ', 1, true) ~= nil
end

local function bury(error)
  local fields = call('HGETALL', TURN)
  local state = call('HGET', KEPT, 'state')
  call('RPUSH', DEAD, cmsgpack.pack({int(now), error, state, fields}))
  call('LTRIM', DEAD, -DEAD_LETTER_LIMIT, -1)
end

-- Settle an unfinished turn that must not run again: stopped, killed, or expired too often.
local function end_unrunnable()
  local expiries = tonumber(call('HGET', TURN, 'expiries') or 0)
  if token and token ~= '' then -- its lease ended by expiry, not by fail or park
    expiries = expiries + 1
    token = ''
    call('HSET', TURN, 'token', '', 'expiries', expiries)
  end
  local outcome = ENDED_BY[pending()]
  if not outcome and expiries >= MAX_EXPIRIES then
    bury('its lease expired ' .. expiries .. ' times without progress')
    outcome = 'dead-lettered'
  end
  if outcome then
    settle(outcome, 'turn', call('HGETALL', TURN))
    end_turn()
  end
end

-- Wake now, or as early as was due already, if anything is pending; else never.
local function wake_if_pending()
  if turn or call('LLEN', INBOX) > 0 then
    call('ZADD', WAKE, 'LT', int(now), name)
  else
    call('ZREM', WAKE, name)
  end
end

-- Start the head of a conversation that nobody holds, settling on the way what cannot start.
-- `lease` and `patience` are microseconds; without a lease start nothing, and leave a wake.
-- Answer a flat Started, or nil.
local function next_turn(op, lease, patience)
  if not lease then
    wake_if_pending()
    return nil
  end
  local fields
  if turn then end_unrunnable() end
  if turn then
    fields = call('HGETALL', TURN)
  else
    expire(now - patience)
    local head = call('LPOP', INBOX)
    if not head then
      call('ZREM', WAKE, name)
      return nil
    end
    local admitted, id = string.match(head, '^(%d+) (%S+)')
    fields = begin(id, {head}, admitted)
  end
  token = draw_number() .. '-' .. op
  expires, held, backing = now + lease, true, 0
  call('HSET', TURN, 'token', token, 'expires', int(expires), 'backing', 0)
  call('ZADD', WAKE, int(expires), name)
  local state, version = unpack(call('HMGET', KEPT, 'state', 'version'))
  return extend({token, expires, now, state, version, #fields}, fields)
end

-- The Started that an operation got for the turn that it began; see `began`.
local function started_again(lease)
  local begun = tonumber(string.match(turn, '(%d+)$'))
  local fields = {'turn', turn}
  for _, field in ipairs({'inbounds', 'followups', 'carry'}) do
    local value = call('HGET', TURN, field)
    if value then extend(fields, {field, value}) end
  end
  local state, version = unpack(call('HMGET', KEPT, 'state', 'version'))
  return extend({token, begun + lease, begun, state, version, #fields}, fields)
end

-- End `reply` with a Turnover: what was settled, then what started.
local function with_turnover(reply, started)
  extend(reply, settled)
  return extend(reply, started or {})
end

-- Settle a stopped or killed turn that nobody holds; leave a wake for what waits.
local function end_if_unheld()
  if not turn or held or not ENDED_BY[pending()] then return end
  end_unrunnable()
  call('ZREM', WAKE, name) -- what waits is due from now on, not since the lease's end
  wake_if_pending()
end
