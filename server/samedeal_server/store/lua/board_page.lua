-- Read a piece of a board. KEYS: board, its rows, names.
-- ARGV: order width, word, rows at most, the asker or '', then what the word needs:
--   top; after ROW; before ROW (rows need not be there any more); around; friends PLAYER...
-- Returns {now, rows of the board, rows before the first here, own row, its place, how many have
-- that place, then row, place and label for each}.
local width, word, limit, asker = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
local board, of = KEYS[1], KEYS[2]

-- A hidden row is in the hash, but not on the board.
local function row_of(player)
  local row = redis.call('HGET', of, player)
  return row and redis.call('ZSCORE', board, row) and row or nil
end

local function place_of(row)
  return 1 + redis.call('ZLEXCOUNT', board, '-', '(' .. row:sub(1, width))
end

local total = redis.call('ZCARD', board)
local mine = asker ~= '' and row_of(asker) or nil
local rows, places = {}, {}
if word == 'friends' then
  for at = 5, #ARGV do
    rows[#rows + 1] = row_of(ARGV[at])
  end
elseif word == 'after' then
  rows = redis.call('ZRANGEBYLEX', board, '(' .. ARGV[5], '+', 'LIMIT', 0, limit)
elseif word == 'before' then
  local back = redis.call('ZREVRANGEBYLEX', board, '(' .. ARGV[5], '-', 'LIMIT', 0, limit)
  for at = #back, 1, -1 do
    rows[#rows + 1] = back[at]
  end
elseif word == 'top' then
  rows = redis.call('ZRANGE', board, 0, limit - 1)
elseif mine then
  -- As many above as below, but a whole page also at either end.
  local rank = redis.call('ZRANK', board, mine)
  local first = math.max(0, math.min(rank - math.floor(limit / 2), total - limit))
  rows = redis.call('ZRANGE', board, first, first + limit - 1)
end
local before = rows[1] and redis.call('ZRANK', board, rows[1]) or 0
local shared
for at, row in ipairs(rows) do
  local order = row:sub(1, width)
  if word == 'friends' or at == 1 then
    places[at] = place_of(row)
  elseif order == shared then
    places[at] = places[at - 1]
  else
    places[at] = before + at
  end
  shared = order
end
local found = {clock(), total, before, mine or '', 0, 0}
if mine then
  local order = mine:sub(1, width)
  found[5] = place_of(mine)
  found[6] = redis.call('ZLEXCOUNT', board, '[' .. order, '(' .. order .. 'g')
end
for at, row in ipairs(rows) do
  local player = row:sub(width + 13, width + 28)
  found[#found + 1] = row
  found[#found + 1] = places[at]
  found[#found + 1] = redis.call('HGET', KEYS[3], player) or ''
end
if mine then
  found[#found + 1] = redis.call('HGET', KEYS[3], asker) or ''
end
return found
