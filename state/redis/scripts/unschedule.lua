-- Remove a timer that has not fired.
-- KEYS[1-13]  the conversation
-- ARGV[3]     id of the timer
-- Returns     gone | unscheduled <1 or 0>

-- include clock
-- include conversation
-- include gone
-- include turn
-- include framing
-- include letters
-- include inbox
-- include alarms
-- include sweep

local dropped = drop_alarm(ARGV[3])
rewake()
sweep()
return {'unscheduled', dropped}
