-- Put skills made anew from the rated races in the place of those that are there.
-- KEYS: rated races, skills, marks of what is left out. ARGV: how many races they are made from, how
-- many marks, these, then player, skill. Returns 0 if there are more races, or other marks, by now.
local marks = tonumber(ARGV[2])
if redis.call('HLEN', KEYS[1]) ~= tonumber(ARGV[1]) or redis.call('SCARD', KEYS[3]) ~= marks then
  return 0
end
for at = 3, 2 + marks do
  if redis.call('SISMEMBER', KEYS[3], ARGV[at]) == 0 then
    return 0
  end
end
redis.call('DEL', KEYS[2])
for at = 3 + marks, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
end
return 1
