-- Take a player's rows off boards and keep them aside, or put them back; rows written meanwhile stay
-- aside too. KEYS: hidden players, then each board and its rows. ARGV: player, 1 to hide.
if ARGV[2] == '1' then
  redis.call('SADD', KEYS[1], ARGV[1])
else
  redis.call('SREM', KEYS[1], ARGV[1])
end
local moved = 0
for at = 2, #KEYS, 2 do
  local row = redis.call('HGET', KEYS[at + 1], ARGV[1])
  if row and ARGV[2] == '1' then
    moved = moved + redis.call('ZREM', KEYS[at], row)
  elseif row then
    moved = moved + redis.call('ZADD', KEYS[at], 0, row)
    local expires = redis.call('PTTL', KEYS[at + 1])
    if expires > 0 then
      redis.call('PEXPIRE', KEYS[at], expires)
    end
  end
end
return moved
