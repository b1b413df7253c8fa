-- Put the deal of a day on record, unless it has one: the first stands, whoever made it.
-- KEYS: deals, digests of their seeds. ARGV: day and game, label and seed, digest of the seed.
-- Returns the deal that stands, or nothing if this seed was another day's.
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then
  return known
end
if redis.call('SISMEMBER', KEYS[2], ARGV[3]) == 1 then
  return ''
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[3])
return ARGV[2]
