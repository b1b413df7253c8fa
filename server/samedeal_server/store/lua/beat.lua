-- Renew a node's lease, and say how the leases of all stand and when nobody could play.
-- An outage is a time in which no node had a lease: the store was away, or every node. Whoever is
-- back first writes it down, so that there is one of it for all.
-- KEYS: leases, outages. ARGV: node, ms a lease lasts, ms after which a lease that ran out is
-- forgotten, how many outages are remembered.
-- Returns now, ms of the outage found just now or 0, outages as number, from and to in turn, and
-- leases as node and end in turn.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function whole(number)
  return string.format('%.0f', number)
end
local last = tonumber(redis.call('HGET', KEYS[2], 'beat') or now)
local found = 0
if now - last > tonumber(ARGV[2]) then
  found = now - last
  local number = redis.call('HINCRBY', KEYS[2], 'count', 1)
  redis.call('HSET', KEYS[2], number, whole(last) .. ' ' .. whole(now))
  redis.call('HDEL', KEYS[2], number - tonumber(ARGV[4]))
end
redis.call('HSET', KEYS[2], 'beat', whole(now))
redis.call('ZADD', KEYS[1], whole(now + tonumber(ARGV[2])), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, whole(now - tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local outages, newest = {}, tonumber(redis.call('HGET', KEYS[2], 'count') or '0')
for number = math.max(1, newest - tonumber(ARGV[4]) + 1), newest do
  local from, to = string.match(redis.call('HGET', KEYS[2], number) or '', '(%d+) (%d+)')
  if from then
    outages[#outages + 1] = whole(number)
    outages[#outages + 1] = from
    outages[#outages + 1] = to
  end
end
return {whole(now), whole(found), outages, redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}
