-- Change what is known of a player's runs, and bring boards up to date with it, all or nothing.
-- KEYS: runs of the player, names, hidden players, days that are due, then each board and its rows.
-- ARGV: player, label or '', change (none, post, remove, restore), run, day or '', when the day is
-- due, rows a board keeps, then for each board: word, order width, expires, two arguments of the word:
--   best ROW        the row, if it is better than the one there is
--   set ROW         the row
--   wins FROM TO    first places and races among the runs that closed in that time
--   fastest FROM TO the best win among them, one by one
--   drop            no row
-- Runs are a sorted set of texts: class (w first place, l not, d of a day, x removed and then the
-- former), 12 digits of the closing time, 18 of the run, 12 of when it was achieved, order.
local runs, player, change, run = KEYS[1], ARGV[1], ARGV[3], ARGV[4]
local removed = 'x' .. run
if change == 'post' then
  if redis.call('ZSCORE', runs, removed) then
    return 0
  end
  redis.call('ZADD', runs, 0, run)
elseif change == 'remove' then
  redis.call('ZREM', runs, run)
  redis.call('ZADD', runs, 0, removed)
elseif change == 'restore' then
  redis.call('ZREM', runs, removed)
  redis.call('ZADD', runs, 0, run)
end
if ARGV[2] ~= '' then
  redis.call('HSETNX', KEYS[2], player, ARGV[2])
end
if ARGV[5] ~= '' then
  redis.call('ZADD', KEYS[4], ARGV[6], ARGV[5])
end
local hidden, most = redis.call('SISMEMBER', KEYS[3], player) == 1, tonumber(ARGV[7])

local function wins(from, to)
  local low, high = '[w' .. from, '(w' .. to
  local won = redis.call('ZLEXCOUNT', runs, low, high)
  local played = won + redis.call('ZLEXCOUNT', runs, '[l' .. from, '(l' .. to)
  if played == 0 then
    return nil
  end
  local last = redis.call('ZREVRANGEBYLEX', runs, high, low, 'LIMIT', 0, 1)[1]
    or redis.call('ZREVRANGEBYLEX', runs, '(l' .. to, '[l' .. from, 'LIMIT', 0, 1)[1]
  local order = string.format('%08x%08x', 4294967295 - won, played)
  return order .. last:sub(32, 43) .. player .. last:sub(14, 31)
end

local function fastest(from, to)
  local best
  for _, class in ipairs({'w', 'l'}) do
    local found = redis.call('ZRANGEBYLEX', runs, '[' .. class .. from, '(' .. class .. to)
    for _, one in ipairs(found) do
      if #one > 43 then
        local row = one:sub(44) .. one:sub(32, 43) .. player .. one:sub(14, 31)
        if not best or is_before(row, best) then
          best = row
        end
      end
    end
  end
  return best
end

local at = 8
for key = 5, #KEYS, 2 do
  local board, of = KEYS[key], KEYS[key + 1]
  local word, width, expires = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  local one, two = ARGV[at + 3], ARGV[at + 4]
  at = at + 5
  local row
  if word == 'best' then
    local old = redis.call('HGET', of, player)
    row = old and is_before(old, one) and old or one
  elseif word == 'set' then
    row = one
  elseif word == 'wins' then
    row = wins(one, two)
  elseif word == 'fastest' then
    row = fastest(one, two)
  end
  if row then
    put(board, of, player, row, hidden, width, expires, most)
  else
    drop(board, of, player)
  end
end
return 1
