-- Move the phase on if it is time; any node may ask, any number of times.
-- ARGV: node, ms a lobby may wait, when the outages were read, ms after which there may be newer
-- ones, then number, from and to of each outage.
-- Returns {phase, now, due} and, while it runs, 1 for a day's run: due is when to ask again, 0 for
-- never. With 'stale' as the phase nothing
-- was done: the outages have to be read first.
local phase = get('phase')
if not phase then
  return {'missing', '0', '0'}
end
local now = clock()
if phase == 'lobby' then
  -- A day's run that was made and not begun can be begun until its day is over.
  local until_ = math.max(number('created') + tonumber(ARGV[2]), number('day_ends_at'))
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
if now - tonumber(ARGV[3]) > tonumber(ARGV[4]) then
  return {'stale', whole(now), '0'}
end
-- Whoever could not play gets the time back: each outage counts once, and only where it lay between
-- GO and the deadline as it was when it began. A day closes at its hour, whatever happened: then its
-- seeds are public.
local of_a_day = get('day')
local paused, latest, was_paused = number('paused'), number('outage'), false
for at = 5, #ARGV, 3 do
  local from, to = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  if tonumber(ARGV[at]) > latest then
    latest = tonumber(ARGV[at])
    if from < deadline and to > go_at and not of_a_day then
      local lost = to - math.max(from, go_at)
      paused, deadline, was_paused = paused + lost, deadline + lost, true
    end
  end
end
if was_paused then
  redis.call('HSET', KEYS[1], 'paused', whole(paused), 'deadline', whole(deadline),
    'outage', whole(latest))
end
local on = false
for _, seat in ipairs(taken()) do
  -- Who plays a day's run alone would learn of hidden cards by a close for being stuck.
  on = on or plays_on(seat) and (of_a_day or not is_stuck(seat))
end
if not on or now >= deadline then
  close(math.min(now, deadline), ARGV[1])
  return {'closed', whole(now), '0'}
end
if phase == 'countdown' then
  redis.call('HSET', KEYS[1], 'phase', 'running')
end
if phase == 'countdown' or was_paused then
  changed(ARGV[1])
end
return {'running', whole(now), whole(deadline), of_a_day and 1 or 0}
