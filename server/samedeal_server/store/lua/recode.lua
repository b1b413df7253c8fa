-- Move a join code on from a race to the one that follows; late, it changes nothing.
-- KEYS: code. ARGV: race it must lead to now, race that follows, lifetime ms. Returns 1 if moved.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
