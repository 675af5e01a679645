-- One conversation and its partition's indexes, as every step about it sees them.
-- KEYS[1-13]  in the order of keys.py
-- ARGV[2]     `<owner> <conversation>`, its name in the indexes
local TURN, INBOX, KEPT, TRANSCRIPT, DEAD, ALARMS, GIVEN, ANSWERS, COUNTER, WAKE, SIGNALS, INDEX, GONE = unpack(KEYS)
local name = ARGV[2]

-- How often it was forgotten lately; see gone.lua.
local forgotten = 0
