-- The queue of quick match: who waits, who is offered whom, who has accepted. One script, so that
-- nobody is ever in two places. KEYS: entries (hash by player), pairs (hash by id of their race),
-- when the queue was moved on. ARGV: lease ms, ms to accept, rating window, by how much it widens in
-- a second, ms a made pair is remembered, what to do, and what that needs. Times are the store's.
-- What one player asks for reads what concerns it alone; only ticks read the whole queue.
local now = clock()
local LEASE, ACCEPT, WINDOW, WIDENS, KEEP, MAKE = tonumber(ARGV[1]), tonumber(ARGV[2]),
  tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), 3000
local ENTRY = {'ticket', 'node', 'game', 'rating', 'since', 'alive', 'pair', 'name', 'bot'}
local PAIR = {'game', 'deadline', 'making_until', 'made_until', 'player1', 'ticket1', 'accepted1',
  'name1', 'player2', 'ticket2', 'accepted2', 'name2', 'bot'}
-- Up to so many waiting it costs nothing to move the queue on with every tick of every node; of more
-- it is done four times a second, and each looks at no more than so many neighbours by rating.
local FEW, PAUSE, NEIGHBOURS = 64, 250, 16

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

-- What was read or written of the two hashes; false where there is nothing.
local entries, pairs_ = {}, {}
local has_written = false

local function read(key, into, fields, id)
  if into[id] == nil then
    local text = redis.call('HGET', key, id)
    into[id] = text and unpacked(text, fields)
  end
  return into[id]
end
local function entry_of(player)
  return read(KEYS[1], entries, ENTRY, player)
end
local function pair_of(id)
  return id ~= '' and read(KEYS[2], pairs_, PAIR, id)
end

local function read_all(key, into, fields)
  local found = redis.call('HGETALL', key)
  for at = 1, #found, 2 do
    if into[found[at]] == nil then
      into[found[at]] = unpacked(found[at + 1], fields)
    end
  end
end

local function put_entry(player, entry)
  entries[player], has_written = entry, true
  redis.call('HSET', KEYS[1], player, packed(entry, ENTRY))
end
local function put_pair(id, pair)
  pairs_[id], has_written = pair, true
  redis.call('HSET', KEYS[2], id, packed(pair, PAIR))
end
local function drop_entry(player)
  entries[player] = false
  redis.call('HDEL', KEYS[1], player)
end
local function drop_pair(id)
  pairs_[id] = false
  redis.call('HDEL', KEYS[2], id)
end

local function is_agreed(pair)
  return pair.accepted1 == '1' and pair.accepted2 == '1'
end
local function is_to_be_made(pair)
  return pair and is_agreed(pair) and pair.made_until == ''
end
local function side_of(pair, player)
  return pair.player1 == player and 1 or 2
end

-- The entry of a side of a pair, if it is still in it.
local function entry_in(id, pair, side)
  local entry = entry_of(pair['player' .. side])
  if entry and entry.pair == id and entry.ticket == pair['ticket' .. side] then
    return entry
  end
end

-- End a pair that did not come about. Who stays waits on with all the time waited so far, so first.
local function dissolve(id, stays)
  local pair = pair_of(id)
  for side = 1, 2 do
    local entry = entry_in(id, pair, side)
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
  drop_pair(id)
end

-- Without a connection from now on; it may come back to its place while the lease lasts.
local function be_away(player, entry)
  entry.node, entry.alive = '', whole(now + LEASE)
  put_entry(player, entry)
end

-- Take someone out of the queue; an opponent who was offered waits on.
local function leave(player)
  local entry = entry_of(player)
  local id = entry.pair
  local pair = pair_of(id)
  if is_to_be_made(pair) then
    -- The race is on its way: it is to be found by who comes back.
    be_away(player, entry)
    return
  end
  if pair and not is_agreed(pair) then
    dissolve(id, function(other)
      return other ~= player
    end)
  end
  drop_entry(player)
  if pair and is_agreed(pair) and not entry_in(id, pair, 3 - side_of(pair, player)) then
    drop_pair(id)
  end
end

-- Drop someone whose node does not answer for it any more, or who did not come back.
local function sweep_entry(player)
  local entry = entry_of(player)
  if entry and tonumber(entry.alive) < now and not is_to_be_made(pair_of(entry.pair)) then
    leave(player)
  end
end

-- End a pair whose time is over, or forget it.
local function sweep_pair(id)
  local pair = pair_of(id)
  if pair and not is_agreed(pair) then
    if tonumber(pair.deadline) < now then
      dissolve(id, function(_, has_accepted)
        return has_accepted
      end)
    end
  elseif pair then
    local until_ = pair.made_until ~= '' and pair.made_until or pair.deadline + KEEP
    if tonumber(until_) < now then
      drop_pair(id)
    end
  end
end

-- Have one player's entry be what it is by now, and its pair.
local function sweep_around(player)
  local entry = entry_of(player)
  local pair = entry and pair_of(entry.pair)
  if pair then
    sweep_entry(pair.player1)
    sweep_entry(pair.player2)
    sweep_pair(entry.pair)
  end
end

local function window(entry)
  return WINDOW + WIDENS * (now - tonumber(entry.since)) / 1000
end

local function make_pair(id, one, other, bot)
  local a, b = entries[one], entries[other]
  a.pair, b.pair = id, id
  put_pair(id, {
    game = a.game, deadline = whole(now + ACCEPT), making_until = '0', made_until = '', bot = bot,
    player1 = one, ticket1 = a.ticket, accepted1 = bot, name1 = a.name,
    player2 = other, ticket2 = b.ticket, accepted2 = bot, name2 = b.name,
  })
  put_entry(one, a)
  put_entry(other, b)
end

-- Those who are there and wait for somebody: people, or bots.
local function waiting(bot)
  local found = {}
  for player, entry in pairs(entries) do
    if entry and entry.pair == '' and entry.node ~= '' and entry.bot == bot then
      found[#found + 1] = {player = player, game = entry.game, rating = tonumber(entry.rating),
        since = tonumber(entry.since), window = window(entry)}
    end
  end
  return found
end

local function by_waiting(one, other)
  if one.since ~= other.since then
    return one.since < other.since
  end
  return one.player < other.player
end

local function by_rating(one, other)
  if one.game ~= other.game then
    return one.game < other.game
  elseif one.rating ~= other.rating then
    return one.rating < other.rating
  end
  return by_waiting(one, other)
end

-- Whoever waits longest comes first, and gets the nearest of those who fit. Those who are left stand
-- in a chain by rating, so the nearest are next to each other.
local function pair_up(ids)
  local people = waiting('0')
  table.sort(people, by_rating)
  for at, one in ipairs(people) do
    one.below, one.above = people[at - 1], people[at + 1]
  end
  table.sort(people, by_waiting)
  local function nearer(one, below, above)
    local down = below and below.game == one.game and one.rating - below.rating
    local up = above and above.game == one.game and above.rating - one.rating
    if down and (not up or down <= up) then
      return below, down, below.below, above
    elseif up then
      return above, up, below, above.above
    end
  end
  local function unchain(one)
    one.is_paired = true
    if one.below then
      one.below.above = one.above
    end
    if one.above then
      one.above.below = one.below
    end
  end
  for _, one in ipairs(people) do
    if #ids == 0 then
      return
    end
    local below, above = one.below, one.above
    for _ = 1, one.is_paired and 0 or NEIGHBOURS do
      local other, apart
      other, apart, below, above = nearer(one, below, above)
      if not other or apart > one.window then
        break
      end
      if apart <= other.window then
        make_pair(table.remove(ids), one.player, other.player, '0')
        unchain(one)
        unchain(other)
        break
      end
    end
  end
end

local function claim(id, pair)
  pair.making_until = whole(now + MAKE)
  put_pair(id, pair)
  return {id, pair.game, pair.bot, pair.player1, pair.name1, pair.player2, pair.name2}
end

-- Move the whole queue on. Return the pairs whose race the asker has to make.
local function move_on(ids)
  read_all(KEYS[1], entries, ENTRY)
  read_all(KEYS[2], pairs_, PAIR)
  local function all(of)
    local found = {}
    for key in pairs(of) do
      found[#found + 1] = key
    end
    return found
  end
  for _, player in ipairs(all(entries)) do
    sweep_entry(player)
  end
  for _, id in ipairs(all(pairs_)) do
    sweep_pair(id)
  end
  pair_up(ids)
  local claims = {}
  for id, pair in pairs(pairs_) do
    if is_to_be_made(pair) and tonumber(pair.making_until) < now then
      claims[#claims + 1] = claim(id, pair)
    end
  end
  return claims
end

local DO = {}

-- player, ticket, node, game, rating, name, whether it is a bot
function DO.join(player, ticket, node, game, rating, name, bot)
  local old = entry_of(player)
  if old and old.ticket == ticket then
    return 'done'
  end
  sweep_entry(player)
  sweep_around(player)
  old = entry_of(player)
  local entry = {ticket = ticket, node = node, game = game, rating = rating, since = whole(now),
    alive = whole(now + LEASE), pair = '', name = name, bot = bot}
  local pair = old and pair_of(old.pair)
  if old and (old.game == game or is_to_be_made(pair)) then
    -- Back on another connection: the place in the line is kept, and so is an opponent.
    entry.since = old.since
    if pair then
      entry.pair = old.pair
      pair['ticket' .. side_of(pair, player)] = ticket
      put_pair(old.pair, pair)
    end
  elseif old then
    leave(player)
  end
  put_entry(player, entry)
  return 'done'
end

-- player, ticket
function DO.leave(player, ticket)
  local entry = entry_of(player)
  if entry and entry.ticket == ticket then
    leave(player)
  end
  return 'done'
end

-- player, ticket: the connection was lost. Who comes back in time is asked once more.
function DO.away(player, ticket)
  local entry = entry_of(player)
  if entry and entry.ticket == ticket then
    local pair = pair_of(entry.pair)
    if pair and not is_agreed(pair) then
      pair['accepted' .. side_of(pair, player)] = '0'
      put_pair(entry.pair, pair)
    end
    be_away(player, entry)
  end
  return 'done'
end

-- player, ticket, pair, accept
function DO.answer(player, ticket, id, accept)
  sweep_around(player)
  local entry, pair = entry_of(player), pair_of(id)
  if not entry or entry.ticket ~= ticket or entry.pair ~= id or not pair then
    return 'gone'
  end
  if accept == '1' then
    pair['accepted' .. side_of(pair, player)] = '1'
    put_pair(id, pair)
  elseif is_agreed(pair) then
    return 'agreed'
  else
    leave(player)
  end
  return 'done'
end

-- player, ticket, ms that must have been waited, id of the race: the bot that waits longest, or out
-- of the queue for the server's own. Returns a word, and the pair whose race is to be made.
function DO.bot(player, ticket, after, id)
  sweep_around(player)
  local entry = entry_of(player)
  if not entry or entry.ticket ~= ticket then
    return {'gone'}
  end
  if entry.pair ~= '' then
    return {'paired'}
  end
  if entry.bot == '1' or now - tonumber(entry.since) < tonumber(after) then
    return {'early'}
  end
  read_all(KEYS[1], entries, ENTRY)
  local bots = waiting('1')
  table.sort(bots, by_waiting)
  for _, bot in ipairs(bots) do
    if bot.game == entry.game and tonumber(entries[bot.player].alive) >= now then
      make_pair(id, player, bot.player, '1')
      return {'done', claim(id, pair_of(id))}
    end
  end
  drop_entry(player)
  return {'done'}
end

-- pair: its race is there
function DO.made(id)
  local pair = pair_of(id)
  if pair then
    pair.made_until = whole(now + KEEP)
    put_pair(id, pair)
  end
  return 'done'
end

-- How one who waits stands.
local function standing(player, ticket)
  local entry = entry_of(player)
  if not entry then
    return {player, ticket, 'gone', '', '0', '0'}
  elseif entry.ticket ~= ticket then
    return {player, ticket, 'replaced', '', '0', '0'}
  end
  local state, left, pair = 'waiting', 0, pair_of(entry.pair)
  if pair and pair.made_until ~= '' then
    state = 'made'
  elseif pair then
    state = pair['accepted' .. side_of(pair, player)] == '1' and 'accepted' or 'found'
    left = math.max(0, tonumber(pair.deadline) - now)
  end
  return {player, ticket, state, entry.pair, whole(left), whole(now - tonumber(entry.since))}
end

-- number of fresh ids, the ids, then player and ticket of each who waits on the asking node.
-- Returns {how each of them stands, pairs whose race this node has to make}.
function DO.tick(count)
  local ids, own = {}, {}
  for at = 8, 7 + count do
    ids[#ids + 1] = ARGV[at]
  end
  for at = 8 + count, #ARGV, 2 do
    own[#own + 1] = {ARGV[at], ARGV[at + 1]}
  end
  for _, mine in ipairs(own) do
    local player, ticket = mine[1], mine[2]
    local entry = entry_of(player)
    -- Written when half of it has passed: a crowd that waits costs little.
    if entry and entry.ticket == ticket and tonumber(entry.alive) < now + LEASE / 2 then
      entry.alive = whole(now + LEASE)
      put_entry(player, entry)
    end
  end
  local claims = {}
  if redis.call('HLEN', KEYS[1]) <= FEW or redis.call('SET', KEYS[3], '', 'NX', 'PX', PAUSE) then
    claims = move_on(ids)
  end
  local rows = {}
  for at, mine in ipairs(own) do
    rows[at] = standing(mine[1], mine[2])
  end
  return {rows, claims}
end

local reply
if ARGV[6] == 'tick' then
  reply = DO.tick(tonumber(ARGV[7]))
else
  reply = DO[ARGV[6]](unpack(ARGV, 7))
end
if has_written then
  redis.call('PEXPIRE', KEYS[1], 3600000)
  redis.call('PEXPIRE', KEYS[2], 3600000)
end
return reply
