-- Open a race, with its roster; once only.
-- ARGV: node, lifetime ms, number of race fields n, n names and values, then name and value lists
-- of the seats, each led by its seat number and count.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
local at = 4
local fields = {}
for _ = 1, tonumber(ARGV[3]) * 2 do
  fields[#fields + 1] = ARGV[at]
  at = at + 1
end
redis.call('HSET', KEYS[1], unpack(fields))
redis.call('HSET', KEYS[1], 'created', whole(clock()))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
while ARGV[at] do
  local seat, count = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  at = at + 2
  local values = {}
  for _ = 1, count * 2 do
    values[#values + 1] = ARGV[at]
    at = at + 1
  end
  redis.call('HSET', seat_key(seat), unpack(values))
  redis.call('PEXPIRE', seat_key(seat), ARGV[2])
  local player = redis.call('HGET', seat_key(seat), 'player')
  redis.call('HSET', KEYS[1], 's:' .. seat, player, 'p:' .. player, seat)
end
changed(ARGV[1])
return 1
