-- Ask the holder of exactly one turn to end it; a turn without a living holder is settled at once.
-- KEYS[1-13]  the conversation
-- ARGV[3-4]   operation, channel of the hints
-- ARGV[5-7]   turn, kind, by
-- Returns     gone | over | signalled <turn> <count> <inbounds…> <Turnover>

-- include clock
-- include room
-- include conversation
-- include gone
-- include turn
-- include sweep
-- include answers
-- include number
-- include framing
-- include letters
-- include inbox
-- include alarms
-- include ring
-- include repeats
-- include handover

local op = ARGV[3]
local first = first_answer(op)
if first then return first end
if not turn or turn_id() ~= ARGV[5] then return answer(op, {'over'}) end
request(ARGV[6], ARGV[7])
local withdrawn = ARGV[6] == 'stop' and withdraw(lead()) or {}
publish(ARGV[4])
end_if_unheld()
sweep()
return answer(op, with_turnover(extend({'signalled', ARGV[5], #withdrawn}, withdrawn)))
