-- Tell what was committed as the answer to one inbound.
-- KEYS[1-13]  the conversation
-- ARGV[3]     id of the inbound
-- Returns     given <answer or nil>

-- include clock
-- include conversation

local given = call('HGET', GIVEN, ARGV[3])
local at, gap = string.match(given or '', '^(%d+) ()')
if not at or tonumber(at) < now - ANSWER_WINDOW then return {'given', false} end
return {'given', string.sub(given, gap)}
