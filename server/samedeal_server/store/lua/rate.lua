-- Rate a race: note it in the list, and the skills of its players that follow; once only.
-- KEYS: rated races, skills, voided races. ARGV: race, the race as text, then player, skill it was
-- computed from, skill now. Returns 1 if it is rated, 0 if a skill has changed since it was read.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return 1
end
for at = 3, #ARGV, 3 do
  if (redis.call('HGET', KEYS[2], ARGV[at]) or '') ~= ARGV[at + 1] then
    return 0
  end
end
-- None is ever taken out, so the number of them is the place of the next one in their order.
redis.call('HSET', KEYS[1], ARGV[1], redis.call('HLEN', KEYS[1]) .. ' ' .. ARGV[2])
for at = 3, #ARGV, 3 do
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 2])
end
return 1
