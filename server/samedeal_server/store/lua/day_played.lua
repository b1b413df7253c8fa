-- Note a day that a player has played. KEYS: the days. ARGV: day, lifetime ms.
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
