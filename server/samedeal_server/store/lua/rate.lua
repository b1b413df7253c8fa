-- Rate a race: note it in the list, and the skills of its players that follow; once only.
-- KEYS: rated races, skills, marks of what is left out. ARGV: race, the race as text, seats at most,
-- then player, skill it was computed from, skill now.
-- Returns 1 if it is rated, 0 if a skill has changed since it was read.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return 1
end
local function is_marked(mark)
  return redis.call('SISMEMBER', KEYS[3], mark) == 1
end
-- Voided, a run of it removed or one of its players banned, before it was rated.
local is_left_out = is_marked(ARGV[1])
for seat = 1, tonumber(ARGV[3]) do
  is_left_out = is_left_out or is_marked(ARGV[1] .. '.' .. seat)
end
for at = 4, #ARGV, 3 do
  is_left_out = is_left_out or is_marked('@' .. ARGV[at])
end
for at = 4, #ARGV, 3 do
  if (redis.call('HGET', KEYS[2], ARGV[at]) or '') ~= ARGV[at + 1] then
    return 0
  end
end
-- None is ever taken out, so the number of them is the place of the next one in their order.
redis.call('HSET', KEYS[1], ARGV[1], redis.call('HLEN', KEYS[1]) .. ' ' .. ARGV[2])
if not is_left_out then
  for at = 4, #ARGV, 3 do
    redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 2])
  end
end
return 1
