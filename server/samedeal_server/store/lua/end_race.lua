-- Close a race in which only bots play on: what they have reached counts, as at a last call.
-- ARGV: node, player. Returns {word, seat of a person who plays}.
local own = seat_of(ARGV[2])
if not own then
  return {'not_seated', 0}
end
local phase = get('phase')
if phase == 'closed' then
  -- It may be a repeat whose first reply was lost.
  return {'done', 0}
end
local now = clock()
if phase == 'lobby' or now < number('go_at') then
  return {'phase', 0}
end
if redis.call('HGET', seat_key(own), 'bot') == '1' then
  return {'bot', 0}
end
local stuck = {}
for _, seat in ipairs(taken()) do
  local run = redis.call('HMGET', seat_key(seat), 'status', 'bot', 'seq', 'stuck')
  if not run[1] and run[2] ~= '1' then
    return {'playing', seat}
  end
  if not run[1] and run[4] and run[4] == run[3] then
    stuck[#stuck + 1] = seat
  end
end
for _, seat in ipairs(stuck) do
  redis.call('HSET', seat_key(seat), 'status', 'stuck')
end
redis.call('HSET', KEYS[1], 'phase', 'closed', 'closed_at', whole(math.min(now, number('deadline'))))
changed(ARGV[1])
return {'done', 0}
