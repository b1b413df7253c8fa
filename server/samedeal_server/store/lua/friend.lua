-- Put a friend on a list that holds so many. KEYS: list. ARGV: friend, most, lifetime ms.
local is_there = redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1
if not is_there and redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return 0
end
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
