-- One conversation and its partition's indexes, as every step about it sees them.
-- KEYS[1-9]  in the order of keys.py
-- KEYS[10]   the answer kept for this operation, where the step carries one
-- ARGV[2]    `<owner> <conversation>`, its name in the indexes
local TURN, INBOX, KEPT, TRANSCRIPT, DEAD, COUNTER, WAKE, SIGNALS, FOLLOWED, ANSWER = unpack(KEYS)
local name = ARGV[2]

-- What a commit answers that handed nothing over, and what is kept of it for repeats.
local RELEASED = 'released'
