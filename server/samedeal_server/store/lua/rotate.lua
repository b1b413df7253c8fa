-- Have one token only. KEYS: account. ARGV: its hash. Returns whether the account is there.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 7) == 'device:' then
    redis.call('HDEL', KEYS[1], field)
  end
end
redis.call('HSET', KEYS[1], 'token_hash', ARGV[1])
return 1
