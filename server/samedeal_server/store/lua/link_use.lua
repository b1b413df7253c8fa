-- Use a link code, once. KEYS: code. ARGV: who uses it; the same one may ask again.
-- Returns the account it leads to, or ''.
local found = redis.call('HMGET', KEYS[1], 'player', 'used')
if not found[1] or (found[2] and found[2] ~= ARGV[1]) then
  return ''
end
redis.call('HSET', KEYS[1], 'used', ARGV[1])
return found[1]
