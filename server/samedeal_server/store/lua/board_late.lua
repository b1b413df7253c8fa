-- Days that have to be worked out by now, each with the time. KEYS: days that are due. ARGV: at most.
return redis.call('ZRANGEBYSCORE', KEYS[1], 0, clock(), 'WITHSCORES', 'LIMIT', 0, ARGV[1])
