-- Begin a day's run: its clock starts now, once only, and only before the day is over.
-- ARGV: node, begin before (ms), deadline (ms). Returns a word.
local phase = get('phase')
if not phase then
  return 'missing'
end
if get('go_at') then
  return 'done'
end
local now = clock()
if phase ~= 'lobby' or now >= tonumber(ARGV[2]) then
  return 'late'
end
redis.call('HSET', KEYS[1], 'phase', 'running', 'go_at', whole(now), 'deadline', ARGV[3])
changed(ARGV[1])
return 'done'
