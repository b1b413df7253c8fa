-- Claim a seat: the same player gets the same seat, two players never share one.
-- KEYS[10]: the players that have watched. ARGV: node, player, name, bot, lifetime ms. Returns {word, seat}.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return {'missing', 0}
end
local seat = seat_of(ARGV[2])
if seat then
  return {'seated', seat}
end
if redis.call('SISMEMBER', KEYS[10], ARGV[2]) == 1 then
  return {'watched', 0}
end
if get('phase') ~= 'lobby' then
  return {'phase', 0}
end
if ARGV[4] == '1' and get('bots') ~= '1' then
  return {'no_bots', 0}
end
for free = 1, number('seats') do
  if not get('s:' .. free) then
    redis.call('HSET', seat_key(free), 'player', ARGV[2], 'name', ARGV[3], 'bot', ARGV[4])
    redis.call('PEXPIRE', seat_key(free), ARGV[5])
    redis.call('HSET', KEYS[1], 's:' .. free, ARGV[2], 'p:' .. ARGV[2], free)
    changed(ARGV[1])
    return {'seated', free}
  end
end
return {'full', 0}
