-- List the races that have to be looked at by now. KEYS: the sorted set. ARGV: how many at most.
return redis.call('ZRANGEBYSCORE', KEYS[1], 0, whole(clock()), 'LIMIT', 0, ARGV[1])
