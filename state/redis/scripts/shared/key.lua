-- One key of a scope.
-- KEYS[1-4]  the key, what expires beside conversations, what is being forgotten, the answers kept
--            for operations on that scope
-- ARGV[2]    'k <owner> <kind of scope> <whose> <key>', its name in the index
local KEY, BESIDE, GONE, ANSWERS = unpack(KEYS)
local name = ARGV[2]
if call('HEXISTS', GONE, 'gone o ' .. string.match(name, '^k (%S+)')) == 1 then return {'gone'} end
