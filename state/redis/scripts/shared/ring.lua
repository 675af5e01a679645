-- Promote due timers to inbounds, and set the next occurrence of the recurring ones.

local function due_alarms()
  local found, all = {}, timers()
  for i = 1, #all, 2 do
    local generation, due, occurrence, rest = string.match(all[i + 1], '^(%d+) (%d+) (%d+) (.*)$')
    if tonumber(due) <= now then
      found[#found + 1] = {
        id = all[i], generation = generation, due = tonumber(due),
        occurrence = tonumber(occurrence), rest = rest,
      }
    end
  end
  table.sort(found, function(a, b)
    if a.due ~= b.due then return a.due < b.due end
    if a.generation ~= b.generation then return tonumber(a.generation) < tonumber(b.generation) end
    return a.id < b.id
  end)
  return found
end

local function promote(alarm, occurrence)
  local author, payload = string.match(alarm.rest, '^%S+ %S+ %S+ %S+ %S+ (%S+) (.*)$')
  local id = alarm.id .. '@' .. alarm.generation .. '.' .. int(occurrence)
  call('RPUSH', INBOX, table.concat({int(now), id, author, 0, 0, '*', payload}, ' '))
end

local function ring()
  for _, alarm in ipairs(due_alarms()) do
    local every, catch_up = string.match(alarm.rest, '^(%S+) (%S+)')
    if every == '*' then
      promote(alarm, alarm.occurrence)
      drop_alarm(alarm.id)
    else
      local missed = math.floor((now - alarm.due) / every) + 1
      local last = alarm.occurrence + missed - 1
      local first = catch_up == 'each' and math.max(alarm.occurrence, last - CATCH_UP_LIMIT + 1) or last
      for occurrence = first, last do promote(alarm, occurrence) end
      call('HSET', ALARMS, alarm.id, table.concat(
        {alarm.generation, int(alarm.due + missed * every), int(last + 1), alarm.rest}, ' '))
    end
  end
end
