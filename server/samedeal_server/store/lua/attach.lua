-- Take the seat over for a new connection: the epoch fences every older one.
-- ARGV: node, player. Returns {word, seat, epoch}.
local seat = seat_of(ARGV[2])
if redis.call('EXISTS', KEYS[1]) == 0 then
  return {'missing', 0, 0}
end
if not seat then
  return {'not_seated', 0, 0}
end
-- One count for the whole race: a seat given back and taken again starts no epochs anew.
local epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
redis.call('HSET', seat_key(seat), 'epoch', epoch, 'on', ARGV[1])
-- The node of the older connection is on the list for this one ring more.
changed(ARGV[1])
list_nodes()
return {'done', seat, epoch}
