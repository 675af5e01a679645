-- What waits. An inbound is '<admitted> <id> <author> <held back until> <gather> <joins> <payload>':
-- microseconds, 1 or 0, the id of the inbound that it continues or '*'.

local function id_of(inbound)
  return string.match(inbound, '^%d+ (%S+)')
end

local function author_of(inbound)
  return string.match(inbound, '^%d+ %S+ (%S+)')
end

-- The same inbound, from now on as a plain one, or as the rest of another.
local function anew(inbound, joins)
  local id, author, payload = string.match(inbound, '^%d+ (%S+) (%S+) %S+ %S+ %S+ (.*)$')
  return table.concat({int(now), id, author, 0, 0, joins or '*', payload}, ' ')
end

-- Read what waits; what cannot be read is set aside.
local function waiting()
  local all, inbounds = redis.pcall('LRANGE', INBOX, 0, -1), {}
  if all.err then set_aside_key('line of messages', INBOX) end
  for i = 1, #all do
    if string.find(all[i], INBOUND) then
      inbounds[#inbounds + 1] = all[i]
    else
      call('LREM', INBOX, 1, all[i])
      set_aside('message', all[i])
    end
  end
  return inbounds
end

-- Read the timers, id and alarm in turn; what cannot be read is set aside.
local function timers()
  local all, alarms = redis.pcall('HGETALL', ALARMS), {}
  if all.err then set_aside_key('set of timers', ALARMS) end
  for i = 1, #all, 2 do
    if string.find(all[i + 1], ALARM) then
      alarms[#alarms + 1], alarms[#alarms + 2] = all[i], all[i + 1]
    else
      call('HDEL', ALARMS, all[i])
      call('ZREM', INDEX, 't ' .. name .. ' ' .. all[i])
      set_aside('timer', all[i] .. ' ' .. all[i + 1])
    end
  end
  return alarms
end

-- Remove what `author` (or anybody, when nil) has waiting; answer it, oldest first.
local function withdraw(author)
  local all = waiting()
  if not author then
    call('DEL', INBOX)
    return all
  end
  local gone = {}
  for _, inbound in ipairs(all) do
    if author_of(inbound) == author then
      gone[#gone + 1] = inbound
      call('LREM', INBOX, 1, inbound)
    end
  end
  return gone
end

-- --- the wake ------------------------------------------------------------------------------------

-- Let a conversation that nobody holds be due when the first of what is pending is; never later
-- than it is already.
local function leave_wake()
  local earliest = turn and now
  if not turn then
    for _, inbound in ipairs(waiting()) do
      local until_then = math.max(tonumber(string.match(inbound, '^%d+ %S+ %S+ (%d+)')), now)
      earliest = math.min(earliest or until_then, until_then)
    end
    local alarms = timers()
    for i = 2, #alarms, 2 do
      local due = tonumber(string.match(alarms[i], '^%d+ (%d+)'))
      earliest = math.min(earliest or due, due)
    end
  end
  if earliest then
    call('ZADD', WAKE, 'LT', int(earliest), name)
  else
    call('ZREM', WAKE, name)
  end
end

-- Set the wake of a conversation without a turn anew; that of one with a turn, or held, stands.
local function rewake()
  if turn or held then return end
  call('ZREM', WAKE, name)
  leave_wake()
end
