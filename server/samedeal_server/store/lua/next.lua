-- Name the race that follows this one in the room; the first name stands.
-- ARGV: node, player, id of the new race. Returns {word, id}.
if not seat_of(ARGV[2]) then
  return {'not_seated', ''}
end
if get('phase') ~= 'closed' or not get('go_at') then
  return {'phase', ''}
end
if redis.call('HSETNX', KEYS[1], 'next', ARGV[3]) == 1 then
  changed(ARGV[1])
end
return {'done', get('next')}
