-- Ask the holder of exactly one turn to end it; a turn without a living holder is settled at once.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3]     channel of the hints
-- ARGV[4-6]   turn, kind, by
-- Returns     over | signalled <turn> <count> <inbounds…> <Turnover>

-- include clock
-- include conversation
-- include turn
-- include sweep
-- include number
-- include handover

local first = first_answer()
if first then return first end
if not turn or string.match(turn, '^%S+') ~= ARGV[4] then return answer({'over'}) end
request(ARGV[5], ARGV[6])
local withdrawn = ARGV[5] == 'stop' and withdraw(lead()) or {}
publish(ARGV[3])
end_if_unheld()
sweep()
return answer(with_turnover(extend({'signalled', ARGV[4], #withdrawn}, withdrawn)))
