-- Take up what is pending, if nobody holds it.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3-5]   operation, lease and patience in microseconds
-- Returns     busy <microseconds> | turnover <Turnover>

-- include clock
-- include conversation
-- include turn
-- include sweep
-- include number
-- include handover

local first = first_answer()
if first then return first end
local busy_until = math.max(held and expires or 0, backing)
if busy_until > now then return {'busy', busy_until - now} end
local started = next_turn(ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]))
sweep()
return answer(with_turnover({'turnover'}, started))
