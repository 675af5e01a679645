-- Read a value.
-- KEYS[1-4], ARGV[2]  the key
-- Returns             gone | got <value or nil>

-- include clock
-- include key
-- include beside

local kind, value = kept_under(KEY)
return {'got', kind == 'v' and value}
