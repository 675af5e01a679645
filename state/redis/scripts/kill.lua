-- Signal KILL to the current turn and drop what waits, in one step.
-- KEYS[1-13]  the conversation
-- ARGV[3-4]   operation, channel of the hints
-- ARGV[5]     by
-- ARGV[6]     author whose turn and inbounds are meant, or '' for everybody's
-- Returns     gone | killed <count> <fields of the turn…> <now> <live> <count> <inbounds…> <Turnover>

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
local author = ARGV[6] ~= '' and ARGV[6] or nil
local hit = turn and (not author or includes(author))
local live = held and 1 or 0
local dropped = withdraw(author)
relent()
local fields = {}
if hit then
  request('kill', ARGV[5])
  fields = call('HGETALL', TURN)
  publish(ARGV[4])
  end_if_unheld()
end
rewake()
sweep()
local reply = extend({'killed', #fields}, fields)
extend(reply, {int(now), live, #dropped})
return answer(op, with_turnover(extend(reply, dropped)))
