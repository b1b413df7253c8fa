-- Add a device's token. KEYS: account. ARGV: hash of the token, how many there may be.
-- Returns 'done', 'gone' or 'many'.
local fields = redis.call('HKEYS', KEYS[1])
if #fields == 0 then
  return 'gone'
end
local devices = 1
for _, field in ipairs(fields) do
  if field == 'device:' .. ARGV[1] then
    return 'done'
  end
  if string.sub(field, 1, 7) == 'device:' then
    devices = devices + 1
  end
end
if devices >= tonumber(ARGV[2]) then
  return 'many'
end
redis.call('HSET', KEYS[1], 'device:' .. ARGV[1], redis.call('TIME')[1])
return 'done'
