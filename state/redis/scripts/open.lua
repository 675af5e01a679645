-- Create the store, or learn what it was created with.
-- KEYS[1]    what the store is
-- ARGV[1-2]  schema, number of partitions
-- Returns    <schema> <partitions>
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'schema', ARGV[1], 'partitions', ARGV[2])
end
return redis.call('HMGET', KEYS[1], 'schema', 'partitions')
