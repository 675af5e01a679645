-- Remove a value, list or counter.
-- KEYS[1-4], ARGV[2]  the key
-- Returns             gone | deleted

-- include clock
-- include key

call('DEL', KEY)
call('ZREM', BESIDE, name)
return {'deleted'}
