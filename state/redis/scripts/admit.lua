-- Decide once, for all processes, what an inbound is, and act on it. Order of the rules: State.admit.
-- KEYS[1-10]   the conversation, the answer kept for this operation
-- KEYS[11-12]  where its id is marked as seen: a coarse and a fine bucket, or twice a key of its own
-- ARGV[3-5]    operation, lease and patience in microseconds (both '' to start nothing)
-- ARGV[6]      channel of the hints
-- ARGV[7-9]    id, author, payload
-- ARGV[10-12]  could: stop (none, own, any), follow up, trigger (1 or 0)
-- ARGV[13-17]  policy: inbox, per person, drop oldest (1 or 0), follow-ups, early only (1 or 0)
-- ARGV[18-19]  its mark, and the start of its bucket's hour in microseconds; '' for a key of its own
-- Returns      placed <place> | superseding <turn> | signalled <turn or nil> <count> <inbounds…>
--              | refused <reason> | duplicate <turn or nil> | ignored; the first three with a Turnover
local op, lease, patience, channel = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local id, author, payload = ARGV[7], ARGV[8], ARGV[9]
local stop, follow_up, trigger = ARGV[10], ARGV[11] == '1', ARGV[12] == '1'
local inbox, per_person, drop_oldest = tonumber(ARGV[13]), tonumber(ARGV[14]), ARGV[15] == '1'
local max_followups, early_only = tonumber(ARGV[16]), ARGV[17] == '1'

-- Mark the id as seen; false when it was. A bucket is made to outlive its last timely mark by the
-- whole window, so that only marks of older ids (edits, backfill) have to prolong it.
local function mark_seen()
  local coarse, fine, mark, hour = KEYS[11], KEYS[12], ARGV[18], tonumber(ARGV[19])
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

local function may_follow()
  local kind = pending()
  if not turn or lead() ~= author or (kind and kind ~= 'supersede') then return false end
  local followups = tonumber(call('HGET', TURN, 'followups') or 0)
  return followups < max_followups and not (early_only and call('HGET', TURN, 'pages'))
end

-- Put the inbound at the end of the inbox; answer why not, or nil.
local function append()
  local waiting, share = call('LRANGE', INBOX, 0, -1), 0
  for _, inbound in ipairs(waiting) do
    if author_of(inbound) == author then share = share + 1 end
  end
  if share >= per_person then return 'share full' end
  if #waiting >= inbox then
    if not drop_oldest then return 'inbox full' end
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
    return extend({'signalled', string.match(turn, '^%S+'), #withdrawn}, withdrawn)
  end
  local withdrawn = withdraw(author)
  if #withdrawn > 0 then return extend({'signalled', false, #withdrawn}, withdrawn) end
  return nil
end

local function decide()
  local stopped = stop ~= 'none' and signalled()
  if stopped then return stopped end
  local follows = follow_up and may_follow()
  if not follows and not trigger then return {'ignored'} end
  local refused = append()
  if refused then return {'refused', refused} end
  if follows then
    put_signal('supersede', author)
    return {'superseding', string.match(turn, '^%S+')}
  end
  return {'placed', 0} -- its place is told after the hand-over
end

if not mark_seen() then
  local first = first_answer()
  if first then return first end
  if began(op) and string.match(turn, '^%S+') == id then
    return with_turnover({'placed', 0}, started_again(lease))
  end
  return answer({'duplicate', turn and string.match(turn, '^%S+')})
end
local reply = decide()
if reply[1] == 'ignored' or reply[1] == 'refused' then return answer(reply) end
local started
if not held and backing <= now then started = next_turn(op, lease, patience) end
local own = started and string.match(turn, '^%S+') == id
if reply[1] == 'placed' then
  if not own then reply[2] = call('LLEN', INBOX) - (turn and 0 or 1) end
else
  publish(channel)
end
with_turnover(reply, started)
-- A turn of its own needs no answer kept: the living lease shows it.
if own and reply[1] == 'placed' and settled[1] == 0 then return reply end
sweep()
return answer(reply)
