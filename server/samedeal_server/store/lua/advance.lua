-- Move the phase on if it is time; any node may ask, any number of times.
-- ARGV: node, ms a lobby may wait. Returns {phase, now, due}: due is when to ask again, 0 for never.
local phase = get('phase')
if not phase then
  return {'missing', '0', '0'}
end
local now = clock()
if phase == 'lobby' then
  local until_ = number('created') + tonumber(ARGV[2])
  if now < until_ then
    return {phase, whole(now), whole(until_)}
  end
  redis.call('HSET', KEYS[1], 'phase', 'closed', 'closed_at', whole(now))
  changed(ARGV[1])
  return {'closed', whole(now), '0'}
end
if phase == 'closed' then
  return {phase, whole(now), '0'}
end
local go_at, deadline = number('go_at'), number('deadline')
if now < go_at then
  return {phase, whole(now), whole(go_at)}
end
local on, stuck = false, {}
for _, seat in ipairs(taken()) do
  local run = redis.call('HMGET', seat_key(seat), 'status', 'seq', 'stuck')
  if not run[1] then
    if run[3] and run[3] == run[2] then
      stuck[#stuck + 1] = seat
    else
      on = true
    end
  end
end
if not on or now >= deadline then
  -- Only the close says who was stuck: until then it would tell of hidden cards.
  for _, seat in ipairs(stuck) do
    redis.call('HSET', seat_key(seat), 'status', 'stuck')
  end
  redis.call('HSET', KEYS[1], 'phase', 'closed', 'closed_at', whole(math.min(now, deadline)))
  changed(ARGV[1])
  return {'closed', whole(now), '0'}
end
if phase == 'countdown' then
  redis.call('HSET', KEYS[1], 'phase', 'running')
  changed(ARGV[1])
end
return {'running', whole(now), whole(deadline)}
