-- Hold a name. KEYS: name. ARGV: player, lease in ms, the owner it may be taken from, or ''.
-- Returns who has it now, and for how long.
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] and owner ~= ARGV[3] then
  return { owner, redis.call('PTTL', KEYS[1]) }
end
if owner ~= ARGV[1] or redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return { ARGV[1], redis.call('PTTL', KEYS[1]) }
