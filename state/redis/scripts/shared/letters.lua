-- Dead letters: turns that were given up, and what could not be read. A letter is its time, error,
-- state and inbounds, framed; of what could not be read there follows the raw bytes.

-- How a message and a timer begin that can be read; see inbox.lua and alarms.lua.
local INBOUND = '^%d+ [%w_./@:-]+ [%w_./@:-]+ %d+ [01] [%w_./@:*-]+ '
local ALARM = '^%d+ %d+ %d+ [%d*]+ %l+ [%d.e+-]+ [%d.e*+-]+ [%w_./@:-]+ [%w_./@:-]+ '

local function letter_index(letter)
  local at = string.match(letter, '(%d+)$')
  return 'l ' .. name .. ' ' .. string.rep('0', 20 - #at) .. at .. ' ' .. letter
end

local function drop_letter(letter)
  call('HDEL', DEAD, letter)
  call('ZREM', INDEX, letter_index(letter))
end

local function keep_letter(letter, parts)
  call('HSET', DEAD, letter, framed(parts))
  call('ZADD', INDEX, 0, letter_index(letter), 0, 'c ' .. name)
  if call('HLEN', DEAD) > DEAD_LETTER_LIMIT then
    local mine = 'l ' .. name
    local oldest = call('ZRANGEBYLEX', INDEX, '[' .. mine .. ' ', '(' .. mine .. '!', 'LIMIT', 0, 1)[1]
    drop_letter(string.match(oldest, '(%S+)$'))
  end
end

local function set_aside(what, raw)
  local place, letter = 0, nil
  repeat
    letter = 'unreadable-' .. place .. '.' .. int(now)
    place = place + 1
  until call('HEXISTS', DEAD, letter) == 0
  keep_letter(letter,
    {int(now), 'a ' .. what .. ' that cannot be read', '0', '', string.sub(raw, 1, PAYLOAD_LIMIT)})
end

-- Set a whole key aside, which is of another type than it should be.
local function set_aside_key(what, key)
  local kind, raw = call('TYPE', key).ok, nil
  if kind == 'string' then raw = call('GET', key)
  elseif kind == 'list' then raw = framed(call('LRANGE', key, 0, -1))
  elseif kind == 'hash' then raw = framed(call('HGETALL', key))
  elseif kind == 'zset' then raw = framed(call('ZRANGE', key, 0, -1))
  end
  call('DEL', key)
  -- What named its content in the index names nothing now.
  local named = key == DEAD and 'l ' .. name or key == ALARMS and 't ' .. name
  if named then
    for _, member in ipairs(call('ZRANGEBYLEX', INDEX, '[' .. named .. ' ', '(' .. named .. '!')) do
      call('ZREM', INDEX, member)
    end
  end
  set_aside(what, raw or kind)
end
