-- Take the seat over for a new connection: the epoch fences every older one.
-- ARGV: node, player. Returns {word, seat, epoch}.
local seat = seat_of(ARGV[2])
if redis.call('EXISTS', KEYS[1]) == 0 then
  return {'missing', 0, 0}
end
if not seat then
  return {'not_seated', 0, 0}
end
local epoch = redis.call('HINCRBY', seat_key(seat), 'epoch', 1)
redis.call('HSET', seat_key(seat), 'present', '1')
local node = get('node')
if not node then
  redis.call('HSET', KEYS[1], 'node', ARGV[1])
elseif node ~= ARGV[1] then
  -- From now on commits ring the doorbell: another node wants to hear of them.
  redis.call('HSET', KEYS[1], 'far', '1')
end
changed(ARGV[1])
return {'done', seat, epoch}
