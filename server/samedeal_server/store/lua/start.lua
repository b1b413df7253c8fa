-- The host starts the countdown. ARGV: node, player. Returns {word, seat that is not ready}.
local host = seat_of(ARGV[2])
if not host then
  return {'not_seated', 0}
end
if get('phase') ~= 'lobby' then
  return {'phase', 0}
end
if number('host') ~= host then
  return {'not_host', 0}
end
local seats = taken()
if #seats < math.min(2, number('seats')) then
  return {'alone', 0}
end
for _, seat in ipairs(seats) do
  if seat ~= host and not is_ready(seat) then
    return {'not_ready', seat}
  end
end
redis.call('HSET', seat_key(host), 'ready', '1')
begin_countdown(clock())
changed(ARGV[1])
return {'done', 0}
