-- Shared by every script about boards. A board is a sorted set of rows, all with score 0, so that it
-- is ordered by their texts; beside it a hash tells the row of each player, hidden or not.

local function clock()
  local time = redis.call('TIME')
  return string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
end

-- Byte by byte: Lua's own comparison goes by the locale of the store's process.
local function is_before(one, other)
  for at = 1, math.min(#one, #other) do
    local a, b = one:byte(at), other:byte(at)
    if a ~= b then
      return a < b
    end
  end
  return #one < #other
end

local function drop(board, of, player)
  local old = redis.call('HGET', of, player)
  if old then
    redis.call('ZREM', board, old)
    redis.call('HDEL', of, player)
  end
end

-- A player has one row. width: of the row's order; expires: ms since 1970, 0 for never; most: rows that
-- a board keeps.
local function put(board, of, player, row, hidden, width, expires, most)
  local old = redis.call('HGET', of, player)
  if old and old ~= row then
    redis.call('ZREM', board, old)
  end
  redis.call('HSET', of, player, row)
  if not hidden then
    redis.call('ZADD', board, 0, row)
    for _, last in ipairs(redis.call('ZRANGE', board, most, -1)) do
      redis.call('ZREM', board, last)
      redis.call('HDEL', of, last:sub(width + 13, width + 28))
    end
  end
  if expires ~= '0' then
    redis.call('PEXPIREAT', board, expires)
    redis.call('PEXPIREAT', of, expires)
  end
end
