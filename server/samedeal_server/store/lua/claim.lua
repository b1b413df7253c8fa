-- Name the run of a player at a deal, unless another one is named meanwhile: the first stands.
-- KEYS: the player's runs at it. ARGV: field, id it has now ('' for none), new id, lifetime ms.
-- Returns the id that stands.
local now = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if now ~= ARGV[2] then
  return now
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return ARGV[3]
