-- A connection is gone. No-op if a newer one holds the seat. ARGV: node, seat, epoch.
local key = seat_key(tonumber(ARGV[2]))
if redis.call('HGET', key, 'epoch') ~= ARGV[3] then
  return 0
end
redis.call('HDEL', key, 'on')
list_nodes()
changed(ARGV[1])
return 1
