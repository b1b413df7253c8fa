-- Change fields of an account that is there. KEYS: account. ARGV: names and values, '' for none.
-- Returns whether it is there.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
for at = 1, #ARGV, 2 do
  if ARGV[at + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[at])
  else
    redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
  end
end
return 1
