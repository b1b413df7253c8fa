-- Note that a player watches a race of a deal. KEYS: the races it has watched of that deal.
-- ARGV: race, for how many ms it is kept.
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
