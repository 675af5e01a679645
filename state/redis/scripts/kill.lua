-- Signal KILL to the current turn and drop what waits, in one step.
-- KEYS[1-10]  the conversation, the answer kept for this operation
-- ARGV[3]     channel of the hints
-- ARGV[4]     by
-- ARGV[5]     author whose turn and inbounds are meant, or '' for everybody's
-- Returns     killed <count> <fields of the turn…> <microseconds it runs> <live> <count> <inbounds…> <Turnover>

-- include clock
-- include conversation
-- include turn
-- include sweep
-- include number
-- include handover

local first = first_answer()
if first then return first end
local author = ARGV[5] ~= '' and ARGV[5] or nil
local hit = turn and (not author or includes(author))
local live = held and 1 or 0
local dropped = withdraw(author)
local fields = {}
if hit then
  request('kill', ARGV[4])
  fields = call('HGETALL', TURN)
  publish(ARGV[3])
  end_if_unheld()
end
if not turn and call('LLEN', INBOX) == 0 then call('ZREM', WAKE, name) end
sweep()
local reply = extend({'killed', #fields}, fields)
extend(reply, {now, live, #dropped})
return answer(with_turnover(extend(reply, dropped)))
