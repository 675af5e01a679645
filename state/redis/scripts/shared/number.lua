-- Tokens and order: the partition's next number, seeded by the clock so that a restored copy of the
-- store cannot hand it out twice.
-- `number` is the time as Redis is to store it.
local function draw_number(number)
  local last = call('SET', COUNTER, number, 'GET')
  if last and tonumber(last) >= now then
    number = int(last + 1)
    call('SET', COUNTER, number)
  end
  return number
end
