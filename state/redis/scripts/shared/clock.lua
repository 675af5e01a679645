-- The store's clock, read once because TIME moves inside a script.
-- ARGV[1]  microseconds, or '' for TIME; tests pass their own.
local call = redis.call
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

-- A number as Redis is to store it; its own conversion may choose 1.7e+15.
local function int(number)
  return string.format('%.0f', number)
end
