-- Give a link code back that served nothing. KEYS: code. ARGV: who has used it.
if redis.call('HGET', KEYS[1], 'used') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'used')
end
return 1
