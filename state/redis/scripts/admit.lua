-- Decide once, for all processes, what an inbound is, and act on it. Order of the rules: State.admit.
-- KEYS[1-15]  the conversation, where its id is marked as seen
-- ARGV[3]     channel of the hints
-- ARGV[4]     '<operation> <id> <author> <direct> <lease> <patience> <mark> <hour>': whether an idle
--             conversation would start it at once (1 or 0); microseconds, both empty to start
--             nothing; for mark and hour see seen.lua
-- ARGV[5]     payload
-- ARGV[6]     what it could be: '<stop: none, own, any> <follow up> <trigger> <joins or *>'
-- ARGV[7]     policy: '<inbox> <per person> <drop oldest> <follow-ups> <early only> <interrupt>
--             <drop> <gather> <not before> <quiet> <quiet at most>', 1 or 0, microseconds
-- Returns     '<number> <now>', or own and that and state and version: a turn of its own | gone
--             | placed <place> | superseding <turn> | signalled <turn or nil> <count> <inbounds…>
--             | refused <reason> | duplicate <turn or nil> | ignored; those three with a Turnover

-- include clock
-- include conversation

local channel, payload = ARGV[3], ARGV[5]
local op, id, author, direct, lease, patience, mark, hour = string.match(
  ARGV[4], '^(%S+) (%S+) (%S+) (%d) (%-?%d*) (%-?%d*) (%S+) (%d*)$')
lease, patience = tonumber(lease), tonumber(patience)

local some = call('EXISTS', TURN, INBOX, KEPT, ALARMS, GONE)
if some > 0 then
  -- include gone
  -- These fail for keys of another type, before anything is written.
  call('HEXISTS', TURN, 'turn')
  call('HEXISTS', KEPT, 'state')
  call('LLEN', ANSWERS)
  if call('HEXISTS', GONE, 'gone a ' .. author) == 1 then return {'gone'} end
end

-- include seen

local fresh = mark_seen(mark, hour)

-- include number

-- The way of most inbounds: nothing runs and nothing waits, so it starts at once. What follows would
-- come to the same.
if fresh and direct == '1' and (some == 0 or some == call('EXISTS', KEPT, GONE)) then
  local at, expires = int(now), int(now + lease)
  local number = draw_number(at)
  local inbound = at .. ' ' .. id .. ' ' .. author .. ' 0 0 * ' .. payload
  local token = number .. '-' .. op
  local shown, own = token, number .. ' ' .. at
  local kept = some > 0 and call('HMGET', KEPT, 'state', 'version')
  if kept and kept[1] then
    -- include answers
    own, shown = {'own', own, kept[1], kept[2]}, '*' -- the turn cannot tell this answer
    keep_answers(op .. ' ' .. at .. ' ' .. cmsgpack.pack(own))
  end
  call('HSET', TURN, 'turn', id .. ' ' .. author .. ' ' .. at .. ' ' .. at .. ' ' .. shown,
    'inbounds', #inbound .. ':' .. inbound, 'token', token, 'expires', expires)
  call('ZADD', WAKE, expires, name)
  return own
end

-- include answers
-- include turn
-- include framing
-- include letters
-- include inbox
-- include alarms
-- include ring
-- include sweep
-- include repeats
-- include handover

local stop, follow_up, trigger, joins = string.match(ARGV[6], '^(%S+) (%d) (%d) (%S+)$')
local inbox, per_person, drop_oldest, max_followups, early_only, interrupt, drop, gather, not_before, quiet, quiet_most =
  string.match(ARGV[7], '^(%-?%d+) (%-?%d+) (%d) (%-?%d+) (%d) (%d) (%d) (%d) (%-?%d+) (%-?%d+) (%-?%d+)$')

local function rejoins()
  return joins ~= '*' and is_part_of_turn(joins)
end

-- Whether it supersedes the turn: as its rest, as an interruption or as a follow-up.
local function may_follow()
  local kind = pending()
  if not turn or (kind and kind ~= 'supersede') then return false end
  if rejoins() or (interrupt == '1' and trigger == '1') then return true end
  if follow_up ~= '1' or lead() ~= author then return false end
  return tonumber(call('HGET', TURN, 'followups') or 0) < tonumber(max_followups)
    and not (early_only == '1' and call('HGET', TURN, 'pages'))
end

-- Hold all that gathers back for another quiet period, within the longest since the oldest.
local function keep_quiet()
  local hold_until
  for place, inbound in ipairs(waiting()) do
    local at, before, after, gathers = string.match(inbound, '^(%d+)( %S+ %S+ )%d+ (%d)( .*)$')
    if after == '1' then
      hold_until = hold_until or int(math.min(now + quiet, at + quiet_most))
      call('LSET', INBOX, place - 1, at .. before .. hold_until .. ' 1' .. gathers)
    end
  end
  -- The one wake that an admit may delay; the hand-over sets it anew.
  if hold_until and not held then call('ZREM', WAKE, name) end
end

local appended

-- Put the inbound at the end of the inbox; answer why not, or nil.
local function append()
  local all, share = waiting(), 0
  for _, inbound in ipairs(all) do
    if author_of(inbound) == author then share = share + 1 end
  end
  if share >= tonumber(per_person) then return 'share full' end
  if #all >= tonumber(inbox) then
    if drop_oldest ~= '1' then return 'inbox full' end
    settle('dropped', 'inbox', {call('LPOP', INBOX)})
  end
  local after = not_before == '0' and 0 or int(now + not_before)
  appended = table.concat({int(now), id, author, after, gather, joins, payload}, ' ')
  call('RPUSH', INBOX, appended)
  if quiet ~= '0' and not turn then keep_quiet() end
  return nil
end

local function signalled()
  if turn and (stop == 'any' or includes(author)) then
    if backing > 0 then -- an ended turn is settled at once, not when its retry is due
      backing = 0
      call('HSET', TURN, 'backing', 0)
    end
    request('stop', author)
    local withdrawn = withdraw(lead())
    return extend({'signalled', turn_id(), #withdrawn}, withdrawn)
  end
  local withdrawn = withdraw(author)
  if #withdrawn > 0 then return extend({'signalled', false, #withdrawn}, withdrawn) end
  return nil
end

local function decide()
  local stopped = stop ~= 'none' and signalled()
  if stopped then return stopped end
  local follows = may_follow()
  if not follows and trigger ~= '1' then return {'ignored'} end
  if drop == '1' and not follows and (turn or call('EXISTS', INBOX) == 1) then
    return {'refused', 'busy'}
  end
  local refused = append()
  if refused then return {'refused', refused} end
  if not follows then return {'placed', 0} end -- its place is told after the hand-over
  put_signal('supersede', author)
  if interrupt == '1' then call('HSET', TURN, 'everyone', 1) end
  if rejoins() then call('HSET', TURN, 'rejoined', 1) end
  return {'superseding', turn_id()}
end

local function admitted()
  if not fresh then
    if turn then
      local of, _, words = own_answer()
      if of == op then return words end
    end
    return first_answer(op) or answer(op, {'duplicate', turn and turn_id()})
  end
  local reply = decide()
  if reply[1] == 'ignored' or reply[1] == 'refused' then
    sweep()
    return answer(op, reply)
  end
  relent()
  local started
  if not held and backing <= now then started = next_turn(op, lease, patience) end
  if reply[1] ~= 'placed' then
    publish(channel)
  elseif not turn or turn_id() ~= id then
    reply[2] = call('LLEN', INBOX) - (turn and 0 or 1)
  end
  sweep()
  return answer(op, with_turnover(reply, started))
end

-- What breaks off over a record that cannot be read is repeated once that is set aside, and is then to
-- meet neither its own mark nor its own inbound.
local function take_back()
  local reads, runs = pcall(is_part_of_turn, id)
  if not fresh or (reads and runs) then return end
  unmark()
  if appended then redis.pcall('LREM', INBOX, -1, appended) end
end

local done, reply = pcall(admitted)
if not done then
  take_back()
  error(reply, 0)
end
return reply
