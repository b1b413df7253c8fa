-- Shared by every script about a race. KEYS[1] is the race, KEYS[2..9] its seats 1 to 8.
-- Scripts check everything before the first write: one that fails half way is not rolled back.

local function clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Milliseconds fit a double exactly; Redis would write a large one as 1.7e+12.
local function whole(number)
  return string.format('%.0f', number)
end

local function get(field)
  return redis.call('HGET', KEYS[1], field)
end

local function number(field)
  return tonumber(get(field) or '0')
end

local function seat_key(seat)
  return KEYS[1 + seat]
end

-- Every change raises ver and rings at the other nodes that have players here: read it again.
local function changed(node)
  local ver = redis.call('HINCRBY', KEYS[1], 'ver', 1)
  for other in string.gmatch(get('nodes') or '', '%S+') do
    if other ~= node then
      redis.call('PUBLISH', 'bell:' .. other, KEYS[1] .. ' ' .. ver .. ' changed')
    end
  end
  return ver
end

-- Seat number of a player, or nil.
local function seat_of(player)
  return tonumber(get('p:' .. player) or nil)
end

local function taken()
  local seats = {}
  for seat = 1, 8 do
    if get('s:' .. seat) then
      seats[#seats + 1] = seat
    end
  end
  return seats
end

-- Note which nodes have players or watchers here, as one text: a commit sees at a glance if it is more than one.
local function list_nodes()
  local nodes, known = {}, {}
  for _, seat in ipairs(taken()) do
    local node = redis.call('HGET', seat_key(seat), 'on')
    if node and not known[node] then
      known[node] = true
      nodes[#nodes + 1] = node
    end
  end
  for node in string.gmatch(get('eyes') or '', '(%S+)=') do
    if not known[node] then
      nodes[#nodes + 1] = node
    end
  end
  redis.call('HSET', KEYS[1], 'nodes', table.concat(nodes, ' '))
end

-- Whether a run is not over: nobody ended it, and it is not won.
local function plays_on(seat)
  return not redis.call('HGET', seat_key(seat), 'status')
end

-- Whether a run that plays on can make no progress any more.
local function is_stuck(seat)
  local run = redis.call('HMGET', seat_key(seat), 'status', 'seq', 'stuck')
  return not run[1] and run[3] and run[3] == run[2]
end

-- Close the race. Only this says who was stuck: until then it would tell of hidden cards.
local function close(at, node)
  for _, seat in ipairs(taken()) do
    if is_stuck(seat) then
      redis.call('HSET', seat_key(seat), 'status', 'stuck')
    end
  end
  redis.call('HSET', KEYS[1], 'phase', 'closed', 'closed_at', whole(at))
  changed(node)
end

local function is_ready(seat)
  return redis.call('HGET', seat_key(seat), 'ready') == '1'
end

local function begin_countdown(now)
  local go_at = now + number('countdown_s') * 1000
  redis.call('HSET', KEYS[1], 'phase', 'countdown', 'go_at', whole(go_at),
    'deadline', whole(go_at + number('time_limit_s') * 1000))
end

-- With auto_start the last one to be ready in a full room starts the race.
local function start_if_full(now)
  if get('auto_start') ~= '1' then
    return
  end
  local seats = taken()
  if #seats < number('seats') then
    return
  end
  for _, seat in ipairs(seats) do
    if not is_ready(seat) then
      return
    end
  end
  begin_countdown(now)
end
