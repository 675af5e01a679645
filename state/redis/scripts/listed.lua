-- List names of an index.
-- KEYS[1]    the index
-- ARGV[2-4]  first, last, how many at most; see ZRANGEBYLEX
-- Returns    <now> <names…>

-- include clock

local reply = {int(now)}
for i, name in ipairs(call('ZRANGEBYLEX', KEYS[1], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])) do
  reply[i + 1] = name
end
return reply
