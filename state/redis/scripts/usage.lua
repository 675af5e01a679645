-- Tell what an owner used on one day.
-- KEYS[1]  the owner's usage
-- ARGV[2]  days since 1970
-- Returns  <name, amount…>

-- include clock

local reply, all = {}, call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local day, used = string.match(all[i], '^(%d+) (.*)$')
  if day == ARGV[2] then
    reply[#reply + 1] = used
    reply[#reply + 1] = all[i + 1]
  end
end
return reply
