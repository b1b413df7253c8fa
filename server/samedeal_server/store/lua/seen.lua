-- Read an account. KEYS: account. Returns the store's clock, the time it has left, its fields.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return { string.format('%.0f', now), redis.call('PTTL', KEYS[1]), redis.call('HGETALL', KEYS[1]) }
