-- What an end of a turn writes beside its conversation.
-- KEYS[14-]  what expires beside conversations, usage, the key of each put

local function give(answer)
  for _, inbound in ipairs(inbounds_of_turn()) do
    local id = id_of(inbound)
    if not goes_on[id] then call('HSETNX', GIVEN, id, int(now) .. ' ' .. answer) end
  end
  call('PEXPIRE', GIVEN, int(ANSWER_WINDOW / 1000))
  note(KEYS[14], 'g ' .. name, now + ANSWER_WINDOW)
end

local function put(key, head, value)
  local lasts, set, member = string.match(head, '^(%S+) (%d) (.*)$')
  if set == '1' then
    keep_value(key, KEYS[14], member, lasts == '*' and 0 or now + lasts, 'v' .. value)
  else
    call('DEL', key)
    call('ZREM', KEYS[14], member)
  end
end

local function use(amount_of, amount)
  local usage, day = KEYS[15], math.floor(now / DAY)
  if call('HINCRBY', usage, day .. ' ' .. amount_of, amount) == tonumber(amount) then
    for _, field in ipairs(call('HKEYS', usage)) do
      if string.match(field, '^%d+') < int(day - USAGE_DAYS) then call('HDEL', usage, field) end
    end
  end
  call('PEXPIRE', usage, int(USAGE_DAYS * DAY / 1000))
end

-- Write what starts at ARGV[at]: usage, name and amount; answer; ids of timers to drop; timers,
-- '<id> <delay>' and the rest; puts, '<microseconds or *> <set> <name>' and the value. A turn that is
-- to be tried again has used something, and no more.
local function write_more(at, used_only)
  if more == '' then return end
  local answers, off, on, puts, used = string.match(more, '^ (%d) (%d+) (%d+) (%d+) (%d+)$')
  for i = at, at + 2 * used - 1, 2 do use(ARGV[i], ARGV[i + 1]) end
  at = at + 2 * used
  if used_only then return end
  if answers == '1' then
    give(ARGV[at])
    at = at + 1
  end
  for i = at, at + off - 1 do drop_alarm(ARGV[i]) end
  at = at + off
  for i = at, at + 2 * on - 1, 2 do
    local id, delay = string.match(ARGV[i], '^(%S+) (%-?%d+)$')
    set_alarm(id, delay, ARGV[i + 1])
  end
  at = at + 2 * on
  for i = 0, puts - 1 do put(KEYS[16 + i], ARGV[at + 2 * i], ARGV[at + 2 * i + 1]) end
end
