-- Renew a node's lease, and say how the leases of all stand.
-- KEYS: leases. ARGV: node, ms a lease lasts, ms after which a lease that ran out is forgotten.
-- Returns now, then node and end of its lease in turn.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[2])), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, string.format('%.0f', now - tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local leases = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
table.insert(leases, 1, string.format('%.0f', now))
return leases
