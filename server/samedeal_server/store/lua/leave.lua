-- Give the seat back (lobby), or end the run and keep its result (after that).
-- ARGV: node, player, how ('banked' or 'left'). Returns a word.
local seat = seat_of(ARGV[2])
if not seat then
  return 'not_seated'
end
local phase = get('phase')
if phase == 'closed' then
  return 'closed'
end
if phase == 'lobby' then
  if ARGV[3] == 'banked' or get('day') then
    -- A day's run is its player's for good, also in the moment between its making and its start.
    return 'phase'
  end
  redis.call('DEL', seat_key(seat))
  redis.call('HDEL', KEYS[1], 's:' .. seat, 'p:' .. ARGV[2])
  local left = taken()
  if #left == 0 then
    redis.call('HSET', KEYS[1], 'phase', 'closed', 'closed_at', whole(clock()))
  elseif number('host') == seat then
    redis.call('HSET', KEYS[1], 'host', left[1])
  end
  changed(ARGV[1])
  return 'done'
end
local now = clock()
if ARGV[3] == 'banked' and now < number('go_at') then
  return 'phase'
end
if now >= number('deadline') then
  return 'closed'
end
local status = redis.call('HGET', seat_key(seat), 'status')
if status then
  -- The same again may be a repeat whose first reply was lost.
  return ARGV[3] == 'banked' and status ~= 'banked' and 'over' or 'done'
end
redis.call('HSET', seat_key(seat), 'status', ARGV[3])
changed(ARGV[1])
return 'done'
