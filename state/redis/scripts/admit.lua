-- Decide once, for all processes, what an inbound is, and act on it. Order of the rules: State.admit.
-- KEYS[1-10]   the conversation, the answer kept for this operation
-- KEYS[11-12]  where its id is marked as seen: a coarse and a fine bucket, or twice a key of its own
-- ARGV[3-4]    operation, channel of the hints
-- ARGV[5-7]    id, author, payload
-- ARGV[8]      '<direct> <lease> <patience> <mark> <hour>': whether an idle conversation would start
--              it at once (1 or 0); microseconds, both empty to start nothing; its mark and the
--              start of its bucket's hour in microseconds, both empty for a key of its own
-- ARGV[9]      what it could be: '<stop: none, own, any> <follow up> <trigger>', 1 or 0
-- ARGV[10]     policy: '<inbox> <per person> <drop oldest> <follow-ups> <early only>', 1 or 0
-- Returns      own '<number> <now>' <state> <version>, the last two if there are any
--              | placed <place> | superseding <turn> | signalled <turn or nil> <count> <inbounds…>
--              | refused <reason> | duplicate <turn or nil> | ignored; the first three with a Turnover

-- include clock
-- include conversation
-- include number

local op, channel, id, author, payload = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local direct, lease, patience, mark, hour = string.match(ARGV[8], '^(%d) (%-?%d*) (%-?%d*) (%d*) (%d*)$')
lease, patience, hour = tonumber(lease), tonumber(patience), tonumber(hour)

-- Mark the id as seen; false when it was. A bucket is made to outlive its last timely mark by the
-- whole window, so that only marks of older ids (edits, backfill) have to prolong it.
local function mark_seen()
  local coarse, fine = KEYS[11], KEYS[12]
  if not hour then
    local at = call('GET', coarse)
    if at and tonumber(at) >= now - SEEN_WINDOW then return false end
    call('SET', coarse, int(now), 'PX', int(SEEN_WINDOW / 1000))
    return true
  end
  local bucket, size = coarse, call('SCARD', coarse)
  if size >= BUCKET_SIZE then
    if call('SISMEMBER', coarse, mark) == 1 then return false end
    bucket, size = fine, call('SCARD', fine)
  end
  if call('SADD', bucket, mark) == 0 then return false end
  local timely = now > hour - HOUR and now < hour + 2 * HOUR
  if size == 0 or not timely then
    local life = int((SEEN_WINDOW + 3 * HOUR) / 1000)
    call('PEXPIRE', bucket, life)
    if bucket == fine then call('PEXPIRE', coarse, life) end
  end
  return true
end

local fresh = mark_seen()

-- The way of most inbounds: nothing runs and nothing waits, so it starts at once. What follows would
-- come to the same.
if fresh and direct == '1' then
  local some = call('EXISTS', TURN, INBOX, KEPT)
  if some == 0 or some == 1 and call('EXISTS', KEPT) == 1 then
    local number, at, expires = draw_number(), int(now), int(now + lease)
    local inbound = at .. ' ' .. id .. ' ' .. author .. ' ' .. payload
    call('HSET', TURN, 'turn', id .. ' ' .. author .. ' ' .. at .. ' ' .. at,
      'inbounds', #inbound .. ':' .. inbound, 'token', number .. '-' .. op, 'expires', expires)
    call('ZADD', WAKE, expires, name)
    local own = {'own', number .. ' ' .. at}
    if some == 1 then
      local kept = call('HMGET', KEPT, 'state', 'version')
      if kept[1] then own[3], own[4] = kept[1], kept[2] end
    end
    return own
  end
end

-- include turn
-- include sweep
-- include handover

local stop, follow_up, trigger = string.match(ARGV[9], '^(%S+) (%d) (%d)$')
local inbox, per_person, drop_oldest, max_followups, early_only =
  string.match(ARGV[10], '^(%-?%d+) (%-?%d+) (%d) (%-?%d+) (%d)$')

local function may_follow()
  local kind = pending()
  if not turn or lead() ~= author or (kind and kind ~= 'supersede') then return false end
  local followups = tonumber(call('HGET', TURN, 'followups') or 0)
  return followups < tonumber(max_followups)
    and not (early_only == '1' and call('HGET', TURN, 'pages'))
end

-- Put the inbound at the end of the inbox; answer why not, or nil.
local function append()
  local waiting, share = call('LRANGE', INBOX, 0, -1), 0
  for _, inbound in ipairs(waiting) do
    if author_of(inbound) == author then share = share + 1 end
  end
  if share >= tonumber(per_person) then return 'share full' end
  if #waiting >= tonumber(inbox) then
    if drop_oldest ~= '1' then return 'inbox full' end
    settle('dropped', 'inbox', {call('LPOP', INBOX)})
  end
  call('RPUSH', INBOX, table.concat({int(now), id, author, payload}, ' '))
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
  local follows = follow_up == '1' and may_follow()
  if not follows and trigger ~= '1' then return {'ignored'} end
  local refused = append()
  if refused then return {'refused', refused} end
  if follows then
    put_signal('supersede', author)
    return {'superseding', turn_id()}
  end
  return {'placed', 0} -- its place is told after the hand-over
end

if not fresh then
  local first = first_answer()
  if first then return first end
  if began(op) and turn_id() == id then return with_turnover({'placed', 0}, started_again(lease)) end
  return answer({'duplicate', turn and turn_id()})
end
local reply = decide()
if reply[1] == 'ignored' or reply[1] == 'refused' then return answer(reply) end
local started
if not held and backing <= now then started = next_turn(op, lease, patience) end
local own = started and turn_id() == id
if reply[1] == 'placed' then
  if not own then reply[2] = call('LLEN', INBOX) - (turn and 0 or 1) end
else
  publish(channel)
end
with_turnover(reply, started)
-- A turn of its own needs no answer kept: the turn shows it.
if own and reply[1] == 'placed' and settled[1] == 0 then return reply end
sweep()
return answer(reply)
