-- Drop a dead letter for good.
-- KEYS[1-13]  the conversation
-- ARGV[3]     id of the letter
-- Returns     gone | discarded <1 or 0>

-- include clock
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

local found = call('HEXISTS', DEAD, ARGV[3])
if found == 1 then drop_letter(ARGV[3]) end
sweep()
return {'discarded', found}
