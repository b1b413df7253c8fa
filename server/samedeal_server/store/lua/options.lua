-- The host changes the options; everyone's ready is taken back.
-- ARGV: node, player, seats, then names and values. Returns a word.
local host = seat_of(ARGV[2])
if not host then
  return 'not_seated'
end
if get('phase') ~= 'lobby' then
  return 'phase'
end
if number('host') ~= host then
  return 'not_host'
end
local seats = taken()
if seats[#seats] > tonumber(ARGV[3]) then
  return 'seats'
end
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
for _, seat in ipairs(seats) do
  redis.call('HSET', seat_key(seat), 'ready', '0')
end
changed(ARGV[1])
return 'done'
