-- Key-values, and what else expires beside conversations. A value is '<until> v<bytes>', a counter
-- '<until> n<sum>', a list starts with '<until>'; `until` in microseconds, 0 for ever.

local function expire_at(key, lasts)
  -- The clock decides; the server only clears up, a second later.
  if lasts > 0 then call('PEXPIRE', key, int(math.max(lasts - now, 0) / 1000 + 1000)) end
end

-- Note in the index what a key is; it has no place there once it is gone.
local function note(beside, member, lasts)
  call('ZADD', beside, lasts > 0 and int(lasts) or '+inf', member)
  call('ZREMRANGEBYSCORE', beside, '-inf', '(' .. int(now))
end

local function keep_value(key, beside, member, lasts, value)
  call('SET', key, int(lasts) .. ' ' .. value)
  expire_at(key, lasts)
  note(beside, member, lasts)
end

-- The kind of what is kept under a key now ('v', 'n' or 'l'), with its content.
local function kept_under(key)
  local kind = call('TYPE', key).ok
  if kind == 'none' then return nil end
  local content = kind == 'list' and call('LINDEX', key, 0) or call('GET', key)
  local lasts, letter, value = string.match(content, '^(%d+) ?(.?)(.*)$')
  lasts = tonumber(lasts)
  if lasts > 0 and lasts <= now then return nil end
  return letter == '' and 'l' or letter, value, lasts
end
