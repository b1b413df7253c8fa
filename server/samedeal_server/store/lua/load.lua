-- Read a race with its seats, in one go. ARGV: node. Returns {now, race, seat 1, ... seat 8}, each
-- a list of names and values.
local found = {whole(clock())}
for at = 1, #KEYS do
  found[at + 1] = redis.call('HGETALL', KEYS[at])
end
return found
