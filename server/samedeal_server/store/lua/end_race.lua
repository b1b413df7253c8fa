-- Close a race in which only bots play on: what they have reached counts, as at a last call.
-- ARGV: node, player. Returns {word, seat of a person who plays}.
local function is_bot(seat)
  return redis.call('HGET', seat_key(seat), 'bot') == '1'
end

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
if is_bot(own) then
  return {'bot', 0}
end
for _, seat in ipairs(taken()) do
  if plays_on(seat) and not is_bot(seat) then
    return {'playing', seat}
  end
end
close(math.min(now, number('deadline')), ARGV[1])
return {'done', 0}
