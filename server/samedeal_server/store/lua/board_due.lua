-- Have a day worked out, not before a time. KEYS: days that are due. ARGV: day, time in ms.
-- The time differs from all before: who works the day out just now must not call this done.
local due = math.max(tonumber(ARGV[2]), tonumber(clock()))
local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0')
if last >= due and last < due + 1000 then
  due = last + 1
end
redis.call('ZADD', KEYS[1], string.format('%.0f', due), ARGV[1])
return 0
