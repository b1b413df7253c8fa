-- Count a closed race on the leaderboard of its game, once however often it is asked.
-- KEYS: marker of the race, board, names. ARGV: marker lifetime ms, then player, label, won.
-- A score packs (wins descending, races ascending) under 2^53, so that lower is better.
if redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) == false then
  return 0
end
local most, span = 67108863, 67108864
for at = 2, #ARGV, 3 do
  -- A number as text would lose digits: Lua writes 14.
  local stored = redis.call('ZSCORE', KEYS[2], ARGV[at])
  local score = stored and tonumber(stored) or most * span
  local wins, races = most - math.floor(score / span), score % span
  wins, races = wins + tonumber(ARGV[at + 2]), races + 1
  redis.call('ZADD', KEYS[2], string.format('%.0f', (most - wins) * span + races), ARGV[at])
  redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 1])
end
return 1
