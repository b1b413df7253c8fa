-- Note a link code of an account. KEYS: its codes. ARGV: code, how many in how many ms.
-- Returns 0, or how many ms it comes too early.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local span = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, string.format('%.0f', now - span))
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
    return math.max(1, tonumber(first[2]) + span - now)
  end
  redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
  redis.call('PEXPIRE', KEYS[1], span)
end
return 0
