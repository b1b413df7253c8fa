-- Read deals of days, and which are void. KEYS: deals, digests, void.
-- ARGV: day and game each. Returns now, then deal ('' for none) and '1' if void, in turn.
local time = redis.call('TIME')
local found = {string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))}
for at = 1, #ARGV do
  found[2 * at] = redis.call('HGET', KEYS[1], ARGV[at]) or ''
  found[2 * at + 1] = tostring(redis.call('SISMEMBER', KEYS[3], ARGV[at]))
end
return found
