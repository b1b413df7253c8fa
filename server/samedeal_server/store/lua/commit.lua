-- Accept one action of a run: fenced by epoch, idempotent by seq, timed by the store's clock.
-- KEYS: race, seat, log.
-- ARGV: node, epoch, lifetime ms, seq, action, home, best, opened, 1 if (best, opened) rose, 1 if won.
-- Returns {word, elapsed ms, ver} or {word, detail}.
local seat = redis.call('HMGET', KEYS[2], 'epoch', 'seq', 't', 'status')
local seq, last = tonumber(ARGV[4]), tonumber(seat[2] or '0')
if seat[1] ~= ARGV[2] then
  -- Epochs only grow: below the asker's, nobody took over, but the store lost that it gave it out.
  local is_older = seat[1] and tonumber(seat[1]) < tonumber(ARGV[2])
  return is_older and {'gap', last} or {'fenced'}
end
if seq <= last then
  local entry = redis.call('XRANGE', KEYS[3], ARGV[4] .. '-0', ARGV[4] .. '-0')[1]
  -- The same once more: WAIT for replicas goes by the last write of the connection that asks.
  redis.call('HSET', KEYS[2], 'seq', seat[2])
  return {'again', entry[2][2], entry[2][4]}
end
if seq > last + 1 then
  return {'gap', last}
end
local race = redis.call('HMGET', KEYS[1], 'phase', 'go_at', 'deadline', 'nodes')
local go_at, deadline = tonumber(race[2] or '0'), tonumber(race[3] or '0')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if seat[4] or race[1] == 'closed' then
  return {'closed'}
end
if race[1] == 'lobby' or now < go_at then
  return {'early'}
end
if now >= deadline then
  -- Only the close is the end: an outage may have lengthened the race without it knowing yet.
  return {'late'}
end
-- A store that lost its place in time, after a failover say, never turns a run's clock back.
local elapsed = math.max(now - go_at, tonumber(seat[3] or '0'))
redis.call('XADD', KEYS[3], ARGV[4] .. '-0', 'a', ARGV[5], 't', elapsed)
if seq == 1 then
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
end
if ARGV[9] == '1' then
  redis.call('HSET', KEYS[2], 'seq', ARGV[4], 't', elapsed, 'home', ARGV[6],
    'best', ARGV[7], 'opened', ARGV[8], 't_best', elapsed, 'm_best', ARGV[4])
else
  redis.call('HSET', KEYS[2], 'seq', ARGV[4], 't', elapsed, 'home', ARGV[6])
end
if ARGV[10] == '1' then
  redis.call('HSET', KEYS[2], 'status', 'won')
  if redis.call('HSETNX', KEYS[1], 'first_win', elapsed) == 1 then
    local last_call = tonumber(redis.call('HGET', KEYS[1], 'last_call_s')) * 1000
    deadline = math.min(deadline, now + last_call)
    redis.call('HSET', KEYS[1], 'deadline', string.format('%.0f', deadline))
  end
end
local ver = redis.call('HINCRBY', KEYS[1], 'ver', 1)
if race[4] and race[4] ~= ARGV[1] then
  for other in string.gmatch(race[4], '%S+') do
    if other ~= ARGV[1] then
      redis.call('PUBLISH', 'bell:' .. other, KEYS[1] .. ' ' .. ver .. ' moved')
    end
  end
end
return {'done', elapsed, ver}
