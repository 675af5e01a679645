-- Learn which commands of the scripts the user may not run; leave everything as it is.
-- KEYS[1]  a key that does not exist
-- ARGV[1]  a channel that nobody listens to
-- Returns  the commands that are refused, and the first refusal in the server's words

local NEVER = KEYS[1]

-- Each with what has no effect on such a key, or with what DEL, the last of all, undoes.
local calls = {
  {'EXISTS', NEVER},
  {'GET', NEVER},
  {'HDEL', NEVER, 'x'},
  {'HEXISTS', NEVER, 'x'},
  {'HGET', NEVER, 'x'},
  {'HGETALL', NEVER},
  {'HINCRBY', NEVER, 'x', 'x'},
  {'HKEYS', NEVER},
  {'HLEN', NEVER},
  {'HMGET', NEVER, 'x'},
  {'HSET', NEVER, 'x', 'x', 'x'},
  {'HSETNX', NEVER, 'x', 'x'},
  {'LINDEX', NEVER, 0},
  {'LLEN', NEVER},
  {'LPOP', NEVER},
  {'LPUSH', NEVER, 'x'},
  {'LRANGE', NEVER, 0, 0},
  {'LREM', NEVER, 0, 'x'},
  {'LSET', NEVER, 0, 'x'},
  {'LTRIM', NEVER, 0, 0},
  {'PERSIST', NEVER},
  {'PEXPIRE', NEVER, 1},
  {'PUBLISH', ARGV[1], ''},
  {'RPUSH', NEVER, 'x'},
  {'SADD', NEVER, 'x'},
  {'SCARD', NEVER},
  {'SET', NEVER, 'x', 'XX'},
  {'SISMEMBER', NEVER, 'x'},
  {'SREM', NEVER, 'x'},
  {'TIME'},
  {'TYPE', NEVER},
  {'ZADD', NEVER, 'XX', 0, 'x'},
  {'ZRANGE', NEVER, 0, 0},
  {'ZRANGEBYLEX', NEVER, '-', '+'},
  {'ZRANGEBYSCORE', NEVER, 0, 0},
  {'ZREM', NEVER, 'x'},
  {'ZREMRANGEBYSCORE', NEVER, 0, 0},
  {'ZSCORE', NEVER, 'x'},
  {'DEL', NEVER},
}

local refused, words = {}, ''
local function try(asked)
  local answer = redis.pcall(unpack(asked))
  local told = type(answer) == 'table' and answer.err
  -- In the words of 6.2 and 7.0, then of 7.2.
  if not told or not (string.find(told, 'user executing the script') or string.find(told, 'NOPERM')
      or string.find(told, 'ACL failure')) then return end
  refused[#refused + 1] = string.lower(asked[1])
  if words == '' then words = told end
end

try(calls[#calls])
if #refused == 0 then
  for _, asked in ipairs(calls) do try(asked) end
end
return {refused, words}
