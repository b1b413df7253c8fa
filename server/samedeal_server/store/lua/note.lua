-- Note something about a taken seat that the room should see. ARGV: node, seat, field, value.
local key = seat_key(tonumber(ARGV[2]))
if redis.call('EXISTS', key) == 0 or redis.call('HGET', key, ARGV[3]) == ARGV[4] then
  return 0
end
redis.call('HSET', key, ARGV[3], ARGV[4])
changed(ARGV[1])
return 1
