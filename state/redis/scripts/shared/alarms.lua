-- Timers. An alarm is '<generation> <due> <occurrence> <every> <catch up> <as given> <id> <author>
-- <payload>': microseconds, `every` '*' for once; `as given` two numbers that only listings show.

local function alarm_index(id)
  return 't ' .. name .. ' ' .. id
end

-- Set a timer of `delay` microseconds, replacing one of its id; answer its generation.
local function set_alarm(id, delay, rest)
  local earlier = call('HGET', ALARMS, id)
  local generation = earlier and int(string.match(earlier, '^%d+') + 1) or int(now)
  call('HSET', ALARMS, id, table.concat({generation, int(now + delay), 0, rest}, ' '))
  call('ZADD', INDEX, 0, alarm_index(id))
  return generation
end

local function drop_alarm(id)
  call('ZREM', INDEX, alarm_index(id))
  return call('HDEL', ALARMS, id)
end
