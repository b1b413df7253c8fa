-- The open rooms. An entry that nobody confirms for a while is a ghost, and goes.
-- KEYS: rooms (hash by race: ver, since, confirmed, text, on a line each), number of the change.
-- ARGV: ms after which an entry goes, then a race, its version and what it looks like (empty: it is
-- not open any more) to note it, or nothing to read all. Rings at 'lobby' when they change.
-- Returns {now, number of the change, race, since, text ...}.
local now, keep = clock(), tonumber(ARGV[1])

local function change()
  local number = redis.call('INCR', KEYS[2])
  redis.call('PEXPIRE', KEYS[2], 86400000)
  redis.call('PUBLISH', 'lobby', number)
end

local function parts(text)
  return string.match(text, '^(%d+)\n(%d+)\n(%d+)\n(.*)$')
end

if ARGV[2] then
  local race, ver, text = ARGV[2], ARGV[3], ARGV[4]
  local found = redis.call('HGET', KEYS[1], race)
  local old_ver, since, _, old
  if found then
    old_ver, since, _, old = parts(found)
  end
  if found and tonumber(old_ver) > tonumber(ver) or not found and text == '' then
    return {whole(now), 0}
  end
  if not found or old == '' then
    since = whole(now)
  end
  -- One that is closed stays for a while, empty: what an older reading says of it comes too late.
  redis.call('HSET', KEYS[1], race, ver .. '\n' .. since .. '\n' .. whole(now) .. '\n' .. text)
  redis.call('PEXPIRE', KEYS[1], 86400000)
  if text ~= (old or '') then
    change()
  end
  return {whole(now), 0}
end

local all, gone = redis.call('HGETALL', KEYS[1]), {}
local rooms = {}
for at = 1, #all, 2 do
  local _, since, confirmed, text = parts(all[at + 1])
  if tonumber(confirmed) + keep < now then
    gone[#gone + 1] = all[at]
  elseif text ~= '' then
    rooms[#rooms + 1] = all[at]
    rooms[#rooms + 1] = since
    rooms[#rooms + 1] = text
  end
end
if #gone > 0 then
  for _, race in ipairs(gone) do
    redis.call('HDEL', KEYS[1], race)
  end
  change()
end
local answer = {whole(now), tonumber(redis.call('GET', KEYS[2]) or '0')}
for _, part in ipairs(rooms) do
  answer[#answer + 1] = part
end
return answer
