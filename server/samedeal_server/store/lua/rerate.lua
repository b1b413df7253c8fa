-- Put skills made anew from the rated races in the place of those that are there.
-- KEYS: rated races, skills, voided races. ARGV: how many races they are made from, then player,
-- skill. Returns 0 if there are more races by now.
if redis.call('HLEN', KEYS[1]) ~= tonumber(ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[2])
for at = 2, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
end
return 1
