-- Ids that were seen, as marks of 63 bits in buckets of the hour that the id was made in, or each
-- with a key of its own if the id does not tell.
-- KEYS[14-15]  a coarse and a fine bucket, or twice a key of its own

-- Mark an id as seen; false when it was. After that `unmark` takes the mark back. `hour` is the start of the bucket's, in microseconds, or ''
-- for a key of its own. A bucket is made to outlive its last timely mark by the whole window, so
-- that only marks of older ids (edits, backfill) have to prolong it.
local unmark
local function mark_seen(mark, hour)
  local coarse, fine = KEYS[14], KEYS[15]
  hour = tonumber(hour)
  if forgotten > 0 then mark = mark .. ':' .. forgotten end
  if not hour then
    local at, mark_then = string.match(call('GET', coarse) or '', '^(%d+) (.*)$')
    if mark_then == mark and tonumber(at) >= now - SEEN_WINDOW then return false end
    call('SET', coarse, int(now) .. ' ' .. mark, 'PX', int(SEEN_WINDOW / 1000))
    unmark = function() redis.pcall('DEL', coarse) end
    return true
  end
  local bucket, size = coarse, call('SCARD', coarse)
  if size >= BUCKET_SIZE then
    if call('SISMEMBER', coarse, mark) == 1 then return false end
    bucket, size = fine, call('SCARD', fine)
  end
  if call('SADD', bucket, mark) == 0 then return false end
  unmark = function() redis.pcall('SREM', bucket, mark) end
  local timely = now > hour - HOUR and now < hour + 2 * HOUR
  if size == 0 or not timely then
    local life = int((SEEN_WINDOW + 3 * HOUR) / 1000)
    call('PEXPIRE', bucket, life)
    if bucket == fine then call('PEXPIRE', coarse, life) end
  end
  return true
end
