-- Say ready or not. ARGV: node, player, ready. Returns a word.
local seat = seat_of(ARGV[2])
if not seat then
  return 'not_seated'
end
if get('phase') ~= 'lobby' then
  return 'phase'
end
redis.call('HSET', seat_key(seat), 'ready', ARGV[3])
if ARGV[3] == '1' then
  start_if_full(clock())
end
changed(ARGV[1])
return 'done'
