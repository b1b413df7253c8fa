-- Note how many watch on a node, and that it has to hear of this race. ARGV: node, how many, then
-- nodes that are dead: theirs are forgotten.
local dead, eyes = {}, {}
for at = 3, #ARGV do
  dead[ARGV[at]] = true
end
local before = get('eyes')
if not get('phase') then
  return 0
end
for node, count in string.gmatch(before or '', '(%S+)=(%d+)') do
  if node ~= ARGV[1] and not dead[node] then
    eyes[#eyes + 1] = node .. '=' .. count
  end
end
if ARGV[2] ~= '0' then
  eyes[#eyes + 1] = ARGV[1] .. '=' .. ARGV[2]
end
local after = table.concat(eyes, ' ')
if after == (before or '') then
  return 0
end
redis.call('HSET', KEYS[1], 'eyes', after)
list_nodes()
changed(ARGV[1])
return 1
