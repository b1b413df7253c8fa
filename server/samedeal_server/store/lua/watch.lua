-- Let a player watch: not whoever holds a seat of an open deal. Who has watched one may not take a
-- seat in it afterwards, whatever node is asked.
-- KEYS[10]: the players that have watched. ARGV: node, player, lifetime ms. Returns a word.
local phase = get('phase')
if not phase then
  return 'missing'
end
if phase == 'closed' then
  return 'done'
end
if seat_of(ARGV[2]) then
  return 'seated'
end
if phase ~= 'lobby' then
  redis.call('SADD', KEYS[10], ARGV[2])
  redis.call('PEXPIRE', KEYS[10], ARGV[3])
end
return 'done'
