-- The queue of quick match: who waits, who is offered whom, who has accepted. One script, so that
-- nobody is ever in two places. KEYS: entries (hash by player), pairs (hash by id of their race).
-- ARGV: lease ms, ms to accept, rating window, by how much it widens in a second, ms a made pair is
-- remembered, what to do, and what that needs. Times are the store's.
local now = clock()
local LEASE, ACCEPT, WINDOW, WIDENS, KEEP, MAKE = tonumber(ARGV[1]), tonumber(ARGV[2]),
  tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), 3000
local ENTRY = {'ticket', 'node', 'game', 'rating', 'since', 'alive', 'pair', 'name'}
local PAIR = {'game', 'deadline', 'making_until', 'made_until', 'player1', 'ticket1', 'accepted1',
  'name1', 'player2', 'ticket2', 'accepted2', 'name2'}

local function unpacked(text, fields)
  local record, at = {}, 0
  for part in string.gmatch(text, '([^\n]*)\n') do
    at = at + 1
    record[fields[at]] = part
  end
  return record
end

local function packed(record, fields)
  local parts = {}
  for at, field in ipairs(fields) do
    parts[at] = record[field]
  end
  return table.concat(parts, '\n') .. '\n'
end

local entries, pairs_ = {}, {}
local function load(key, into, fields)
  local found = redis.call('HGETALL', key)
  for at = 1, #found, 2 do
    into[found[at]] = unpacked(found[at + 1], fields)
  end
end
load(KEYS[1], entries, ENTRY)
load(KEYS[2], pairs_, PAIR)

local function put(key, fields, id, record)
  redis.call('HSET', key, id, packed(record, fields))
  redis.call('PEXPIRE', key, 3600000)
end
local function put_entry(player, entry)
  entries[player] = entry
  put(KEYS[1], ENTRY, player, entry)
end
local function drop_entry(player)
  entries[player] = nil
  redis.call('HDEL', KEYS[1], player)
end
local function put_pair(id, pair)
  pairs_[id] = pair
  put(KEYS[2], PAIR, id, pair)
end

local function is_agreed(pair)
  return pair.accepted1 == '1' and pair.accepted2 == '1'
end

-- The entry of a side of a pair, if it is still in it.
local function entry_of(id, pair, side)
  local entry = entries[pair['player' .. side]]
  if entry and entry.pair == id and entry.ticket == pair['ticket' .. side] then
    return entry
  end
end

-- End a pair that did not come about. Who stays waits on with all the time waited so far, so first.
local function dissolve(id, stays)
  local pair = pairs_[id]
  for side = 1, 2 do
    local entry = entry_of(id, pair, side)
    if entry then
      local player = pair['player' .. side]
      if stays(player, pair['accepted' .. side] == '1') then
        entry.pair = ''
        put_entry(player, entry)
      else
        drop_entry(player)
      end
    end
  end
  pairs_[id] = nil
  redis.call('HDEL', KEYS[2], id)
end

-- Take someone out of the queue; an opponent who was offered waits on.
local function leave(player)
  local entry = entries[player]
  local pair = pairs_[entry.pair]
  if pair and not is_agreed(pair) then
    dissolve(entry.pair, function(other)
      return other ~= player
    end)
  end
  drop_entry(player)
end

local function sorted_keys(of)
  local found = {}
  for key in pairs(of) do
    found[#found + 1] = key
  end
  table.sort(found)
  return found
end

-- Drop whoever's node does not answer for any more, and pairs whose time is over.
local function sweep()
  for _, player in ipairs(sorted_keys(entries)) do
    if entries[player] and tonumber(entries[player].alive) < now then
      leave(player)
    end
  end
  for _, id in ipairs(sorted_keys(pairs_)) do
    local pair = pairs_[id]
    if not is_agreed(pair) then
      if tonumber(pair.deadline) < now then
        dissolve(id, function(_, has_accepted)
          return has_accepted
        end)
      end
    elseif tonumber(pair.made_until ~= '' and pair.made_until or pair.deadline + KEEP) < now then
      pairs_[id] = nil
      redis.call('HDEL', KEYS[2], id)
    end
  end
end

local function window(entry)
  return WINDOW + WIDENS * (now - tonumber(entry.since)) / 1000
end

-- Whoever waits longest comes first, and gets the nearest of those who fit.
local function pair_up(ids)
  local waiting = {}
  for player, entry in pairs(entries) do
    if entry.pair == '' then
      waiting[#waiting + 1] = player
    end
  end
  table.sort(waiting, function(one, other)
    local a, b = tonumber(entries[one].since), tonumber(entries[other].since)
    if a ~= b then
      return a < b
    end
    return one < other
  end)
  for at, player in ipairs(waiting) do
    local entry, best, nearest = entries[player], nil, nil
    if #ids == 0 then
      return
    end
    if entry.pair == '' then
      for next = at + 1, #waiting do
        local other = entries[waiting[next]]
        local apart = math.abs(tonumber(entry.rating) - tonumber(other.rating))
        if other.pair == '' and other.game == entry.game
          and apart <= window(entry) and apart <= window(other)
          and (not nearest or apart < nearest) then
          best, nearest = waiting[next], apart
        end
      end
    end
    if best then
      local id = table.remove(ids)
      local other = entries[best]
      put_pair(id, {
        game = entry.game, deadline = whole(now + ACCEPT), making_until = '0', made_until = '',
        player1 = player, ticket1 = entry.ticket, accepted1 = '0', name1 = entry.name,
        player2 = best, ticket2 = other.ticket, accepted2 = '0', name2 = other.name,
      })
      entry.pair, other.pair = id, id
      put_entry(player, entry)
      put_entry(best, other)
    end
  end
end

local what = ARGV[6]

if what == 'join' then
  -- player, ticket, node, game, rating, name
  local player, ticket, node, game, rating, name = unpack(ARGV, 7)
  local old = entries[player]
  if old and old.ticket == ticket then
    return 'done'
  end
  local entry = {ticket = ticket, node = node, game = game, rating = rating, since = whole(now),
    alive = whole(now + LEASE), pair = '', name = name}
  if old and old.game == game then
    -- Back on another connection: the place in the line is kept, and so is an opponent.
    entry.since = old.since
    local pair = pairs_[old.pair]
    if pair then
      entry.pair = old.pair
      local side = pair.player1 == player and 1 or 2
      pair['ticket' .. side] = ticket
      put_pair(old.pair, pair)
    end
  elseif old then
    leave(player)
  end
  for id, pair in pairs(pairs_) do
    local side = pair.player1 == player and 1 or pair.player2 == player and 2
    if side and entry.pair == '' and is_agreed(pair) and pair.made_until == '' then
      -- Lost its connection when both had accepted: the race is on its way.
      entry.pair = id
      pair['ticket' .. side] = ticket
      put_pair(id, pair)
    end
  end
  put_entry(player, entry)
  return 'done'
end

if what == 'leave' then
  -- player, ticket
  local entry = entries[ARGV[7]]
  if entry and entry.ticket == ARGV[8] then
    leave(ARGV[7])
  end
  return 'done'
end

if what == 'answer' then
  -- player, ticket, pair, accept
  sweep()
  local player, ticket, id, accept = unpack(ARGV, 7)
  local entry, pair = entries[player], pairs_[id]
  if not entry or entry.ticket ~= ticket or entry.pair ~= id or not pair then
    return 'gone'
  end
  if accept == '1' then
    pair['accepted' .. (pair.player1 == player and 1 or 2)] = '1'
    put_pair(id, pair)
  elseif is_agreed(pair) then
    return 'agreed'
  else
    leave(player)
  end
  return 'done'
end

if what == 'bot' then
  -- player, ticket, ms that must have been waited: out of the queue, unless there is an opponent
  sweep()
  local entry = entries[ARGV[7]]
  if not entry or entry.ticket ~= ARGV[8] then
    return 'gone'
  end
  if entry.pair ~= '' then
    return 'paired'
  end
  if now - tonumber(entry.since) < tonumber(ARGV[9]) then
    return 'early'
  end
  drop_entry(ARGV[7])
  return 'done'
end

if what == 'made' then
  -- pair: its race is there
  local pair = pairs_[ARGV[7]]
  if pair then
    pair.made_until = whole(now + KEEP)
    put_pair(ARGV[7], pair)
  end
  return 'done'
end

-- tick: node, number of fresh ids, the ids, then player and ticket of each who waits on this node.
-- Returns {how each of them stands, pairs whose race this node has to make}.
local node, count = ARGV[7], tonumber(ARGV[8])
local ids, own = {}, {}
for at = 9, 8 + count do
  ids[#ids + 1] = ARGV[at]
end
for at = 9 + count, #ARGV, 2 do
  local player, ticket = ARGV[at], ARGV[at + 1]
  own[#own + 1] = {player, ticket}
  local entry = entries[player]
  if entry and entry.ticket == ticket then
    entry.alive = whole(now + LEASE)
    put_entry(player, entry)
  end
end
sweep()
pair_up(ids)
local rows, claims = {}, {}
for at, mine in ipairs(own) do
  local player, ticket = mine[1], mine[2]
  local entry = entries[player]
  local state, id, left, waited = 'gone', '', 0, 0
  if entry and entry.ticket ~= ticket then
    state = 'replaced'
  elseif entry then
    state, id, waited = 'waiting', entry.pair, now - tonumber(entry.since)
    local pair = pairs_[id]
    if pair and pair.made_until ~= '' then
      state = 'made'
    elseif pair then
      state = pair['accepted' .. (pair.player1 == player and 1 or 2)] == '1' and 'accepted' or 'found'
      left = math.max(0, tonumber(pair.deadline) - now)
    end
  end
  rows[at] = {player, ticket, state, id, whole(left), whole(waited)}
end
for _, id in ipairs(sorted_keys(pairs_)) do
  local pair = pairs_[id]
  if is_agreed(pair) and pair.made_until == '' and tonumber(pair.making_until) < now then
    pair.making_until = whole(now + MAKE)
    put_pair(id, pair)
    claims[#claims + 1] = {id, pair.game, pair.player1, pair.name1, pair.player2, pair.name2}
  end
end
return {rows, claims}
