-- Tokens and order: the partition's next number, seeded by the clock so that a restored copy of the
-- store cannot hand it out twice.
local function draw_number()
  local number = int(now)
  local last = call('SET', COUNTER, number, 'GET')
  if last and tonumber(last) >= now then
    number = int(last + 1)
    call('SET', COUNTER, number)
  end
  return number
end
