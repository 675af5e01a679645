-- Who speaks next: what admit, claim, supersede, commit, fail, signal and kill have in common.

local RANK = {supersede = 1, stop = 2, kill = 3}
local ENDED_BY = {stop = 'stopped', kill = 'killed'}

-- Everything settled on the way, flat: a count, then outcome, kind, length and items of each.
local settled = {0}

local function settle(outcome, kind, items)
  settled[1] = settled[1] + 1
  extend(settled, {outcome, kind, #items})
  extend(settled, items)
end

local function turn_id()
  return string.match(turn, '^%S+')
end

local function lead()
  return string.match(turn, '^%S+ (%S+)')
end

local function pending()
  return signal and string.match(signal, '^%S+')
end

-- The answer that the admit got which made the turn at once; the turn shows it until it ends.
-- Answer its operation, when that was, and the reply.
local function own_answer()
  local begun, number, op = string.match(turn, '^%S+ %S+ %S+ (%d+) (%d+)%-(.*)$')
  if not op or tonumber(begun) < now - OP_WINDOW then return nil end
  return op, begun, number .. ' ' .. begun
end

-- Inbounds of the turn that its successor will answer.
local goes_on = {}

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

-- --- the turn ------------------------------------------------------------------------------------

local function authors_of(inbounds, first)
  local parts = {}
  for i = first, #inbounds do parts[#parts + 1] = author_of(inbounds[i]) end
  return table.concat(parts, ' ')
end

-- Make a turn of `inbounds`; answer its fields, as a Started shows them.
local function begin(inbounds, admitted, followups, carry)
  local newest = id_of(inbounds[#inbounds])
  turn = table.concat({newest, author_of(inbounds[1]), admitted, int(now), '*'}, ' ')
  token, signal, backing, detached = false, false, 0, false
  local fields = {'turn', turn, 'inbounds', framed(inbounds)}
  if #inbounds > 1 then extend(fields, {'others', authors_of(inbounds, 2)}) end
  if followups then extend(fields, {'followups', followups}) end
  if carry then extend(fields, {'carry', carry}) end
  call('HSET', TURN, unpack(fields))
  return fields
end

local function end_turn()
  if turn then
    if signal then call('ZREM', SIGNALS, in_index()) end
    local op, at, words = own_answer()
    if op then keep_answers(op .. ' ' .. at .. ' =' .. words) end
  end
  call('DEL', TURN)
  turn, token, signal, detached, held, backing = false, false, false, false, false, 0
end

local function includes(author)
  if lead() == author then return true end
  local others = call('HGET', TURN, 'others')
  return others and string.find(' ' .. others .. ' ', ' ' .. author .. ' ', 1, true) ~= nil
end

-- The inbounds that the turn was made of, then those it took.
local function inbounds_of_turn()
  local all, taken = unframed(call('HGET', TURN, 'inbounds')), {}
  for _, field in ipairs(call('HKEYS', TURN)) do
    if string.sub(field, 1, 2) == 'T:' then
      local place, inbounds = string.match(call('HGET', TURN, field), '^(%d+) (.*)$')
      taken[#taken + 1] = {tonumber(place), unframed(inbounds)}
    end
  end
  table.sort(taken, function(a, b) return a[1] < b[1] end)
  for _, took in ipairs(taken) do extend(all, took[2]) end
  return all
end

local function is_part_of_turn(id)
  for _, inbound in ipairs(turn and inbounds_of_turn() or {}) do
    if id_of(inbound) == id then return true end
  end
  return false
end

-- What would move into the turn after this one: its lead's or everybody's, and what continues it.
local function succeeding()
  local moved, answered, everyone = {}, {}, call('HGET', TURN, 'everyone') == '1'
  for _, inbound in ipairs(inbounds_of_turn()) do answered[id_of(inbound)] = true end
  for _, inbound in ipairs(waiting()) do
    local joins = string.match(inbound, '^%d+ %S+ %S+ %d+ %d (%S+)')
    if everyone or author_of(inbound) == lead() or answered[joins] then
      moved[#moved + 1] = inbound
      answered[id_of(inbound)] = true
    end
  end
  return moved
end

-- Take a request to make room back, once nothing waits any more that would move. No field goes: see
-- turn.lua.
local function relent()
  if pending() ~= 'supersede' or #succeeding() > 0 then return end
  call('ZREM', SIGNALS, in_index())
  call('HSET', TURN, 'signal', '', 'everyone', '', 'rejoined', '')
  signal = false
end

-- --- the dead ------------------------------------------------------------------------------------

-- Keep a turn that was given up as a dead letter, named after the turn and the time.
local function bury(error)
  local state = call('HGET', KEPT, 'state')
  keep_letter(turn_id() .. '.' .. int(now),
    {int(now), error, state and '1' .. state or '0', framed(inbounds_of_turn())})
end

-- --- hand-over -----------------------------------------------------------------------------------

local function expire(oldest)
  local gone = {}
  for _, inbound in ipairs(waiting()) do
    if tonumber(string.match(inbound, '^%d+')) < oldest then
      gone[#gone + 1] = inbound
      call('LREM', INBOX, 1, inbound)
    end
  end
  if #gone > 0 then settle('expired', 'inbox', gone) end
end

-- Settle an unfinished turn that carries a stop or kill; whether there was one.
local function settle_stopped()
  local outcome = turn and ENDED_BY[pending()]
  if not outcome then return false end
  settle(outcome, 'turn', call('HGETALL', TURN))
  end_turn()
  return true
end

-- Count the expiry of an unfinished turn's lease; give the turn up when it was one too many.
local function settle_exhausted()
  local expiries = tonumber(call('HGET', TURN, 'expiries') or 0)
  if token and token ~= '' then -- its lease ended by expiry, not by fail, park or steal
    expiries = expiries + 1
    token = ''
    call('HSET', TURN, 'token', '', 'expiries', expiries)
  end
  if expiries < MAX_EXPIRIES then return end
  bury('its lease expired ' .. expiries .. ' times without progress')
  settle('dead-lettered', 'turn', call('HGETALL', TURN))
  end_turn()
end

-- Make a turn of the oldest inbound that is not held back, and of those that belong to it; answer
-- its fields, or nil.
local function new_turn()
  local all, head = waiting(), nil
  for place, inbound in ipairs(all) do
    if tonumber(string.match(inbound, '^%d+ %S+ %S+ (%d+)')) <= now then
      head = place
      break
    end
  end
  if not head then return nil end
  local members, ids = {all[head]}, {[id_of(all[head])] = true}
  local head_gathers = string.match(all[head], '^%d+ %S+ %S+ %d+ (%d)') == '1'
  for place, inbound in ipairs(all) do
    local after, gather, joins = string.match(inbound, '^%d+ %S+ %S+ (%d+) (%d) (%S+)')
    local gathered = head_gathers and gather == '1' and tonumber(after) <= now
    if place ~= head and (gathered or ids[joins]) then
      members[#members + 1] = inbound
      ids[id_of(inbound)] = true
    end
  end
  for _, member in ipairs(members) do call('LREM', INBOX, 1, member) end
  return begin(members, string.match(members[1], '^%d+'))
end

-- Start the head of a conversation that nobody holds, settling on the way what cannot start.
-- `lease` and `patience` are microseconds; without a lease start nothing, settle only what was
-- stopped, and leave a wake. Answer a flat Started, or nil.
local function next_turn(op, lease, patience)
  local stopped = settle_stopped()
  if not lease then
    if stopped then call('ZREM', WAKE, name) end
    leave_wake()
    return nil
  end
  if turn then settle_exhausted() end
  local fields
  if turn then
    fields = call('HGETALL', TURN)
  else
    if token then end_turn() end -- a lease without a turn, which has ended
    ring()
    expire(now - patience)
    fields = new_turn()
    if not fields then
      call('ZREM', WAKE, name)
      leave_wake()
      return nil
    end
  end
  token = draw_number(int(now)) .. '-' .. op
  expires, held, backing = now + lease, true, 0
  call('HSET', TURN, 'token', token, 'expires', int(expires), 'backing', 0)
  call('ZADD', WAKE, int(expires), name)
  local state, version = unpack(call('HMGET', KEPT, 'state', 'version'))
  return extend({token, int(expires), int(now), state, version, #fields}, fields)
end

-- End `reply` with a Turnover: what was settled, then what started.
local function with_turnover(reply, started)
  extend(reply, settled)
  return extend(reply, started or {})
end

-- Settle a stopped or killed turn that nobody holds; leave a wake for what waits.
local function end_if_unheld()
  if not held and settle_stopped() then rewake() end
end
