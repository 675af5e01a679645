-- Begin or end a forget.
-- KEYS[1]    what is being forgotten
-- ARGV[2-3]  what: 'c <owner> <conversation>', 'o <owner>' or 'a <author>'; begin (1) or end (0)
-- Returns    nothing

-- include clock
-- include room

if ARGV[3] == '1' then
  call('HSET', KEYS[1], 'gone ' .. ARGV[2], int(now))
else
  -- In this order, so that the key never goes in between.
  call('HINCRBY', KEYS[1], 'was ' .. ARGV[2], 1)
  call('HDEL', KEYS[1], 'gone ' .. ARGV[2])
end
-- As long as marks of seen ids from before may live; an abandoned forget ends with it.
call('PEXPIRE', KEYS[1], int((SEEN_WINDOW + 3 * HOUR) / 1000))
return 0
