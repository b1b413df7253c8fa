-- Note a race of an account. KEYS: its races. ARGV: race, for how many ms one is kept.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, string.format('%.0f', now - tonumber(ARGV[2])))
redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', now), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
