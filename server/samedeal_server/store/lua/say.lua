-- Say a phrase to the room. The record holds the last one of each seat: latest wins.
-- ARGV: node, player, phrase, number of this saying, ms between two. Returns {word, ms to wait}.
local seat = seat_of(ARGV[2])
if not seat then
  return {'not_seated', 0}
end
local last = redis.call('HMGET', seat_key(seat), 'said', 'said_at')
local said = ARGV[4] .. ' ' .. ARGV[3]
if last[1] == said then
  return {'done', 0}
end
local now = clock()
local wait = tonumber(last[2] or '0') + tonumber(ARGV[5]) - now
-- A clock that was set back must silence nobody for longer.
if wait > 0 and wait <= tonumber(ARGV[5]) then
  return {'early', whole(wait)}
end
redis.call('HSET', seat_key(seat), 'said', said, 'said_at', whole(now))
changed(ARGV[1])
return {'done', 0}
