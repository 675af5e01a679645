-- Remove all of one conversation.
-- KEYS[1-13]  the conversation
-- KEYS[14]    what expires beside conversations
-- Returns     forgotten <1 if anything was kept or pending, else 0>

-- include clock
-- include conversation
-- include turn

local found = call('EXISTS', TURN, INBOX, KEPT, TRANSCRIPT, DEAD, ALARMS, GIVEN)
if turn and signal then
  call('ZREM', SIGNALS, name .. ' ' .. string.match(turn, '^%S+') .. ' ' .. signal)
end
for _, id in ipairs(call('HKEYS', ALARMS)) do call('ZREM', INDEX, 't ' .. name .. ' ' .. id) end
local letters = 'l ' .. name
for _, letter in ipairs(call('ZRANGEBYLEX', INDEX, '[' .. letters .. ' ', '(' .. letters .. '!')) do
  call('ZREM', INDEX, letter)
end
call('DEL', TURN, INBOX, KEPT, TRANSCRIPT, DEAD, ALARMS, GIVEN, ANSWERS)
call('ZREM', WAKE, name)
local followed = call('ZREM', INDEX, 'f ' .. name)
call('ZREM', INDEX, 'c ' .. name)
call('ZREM', KEYS[14], 'g ' .. name)
return {'forgotten', found + followed > 0 and 1 or 0}
