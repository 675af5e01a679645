-- Remove one person's text from a conversation; end a turn that they take part in.
-- KEYS[1-13]  the conversation
-- ARGV[3]     author
-- ARGV[4]     1 to remove, 0 to look only
-- Returns     erased <1 if anything of that person was there, else 0>

-- include clock
-- include room
-- include conversation
-- include turn
-- include sweep
-- include answers
-- include number
-- include framing
-- include letters
-- include inbox
-- include alarms
-- include ring
-- include repeats
-- include handover

local author = ARGV[3]

local function others_of(inbounds)
  local others = {}
  for _, inbound in ipairs(inbounds) do
    if author_of(inbound) ~= author then others[#others + 1] = inbound end
  end
  return others
end

local function lines()
  local mine = {}
  for _, entry in ipairs(call('LRANGE', TRANSCRIPT, 0, -1)) do
    if string.match(entry, '^%d+ (%S+)') == author then mine[#mine + 1] = entry end
  end
  return mine
end

-- Letters with an inbound of the author: id, parts, what is left of the inbounds.
local function letters()
  local mine, all = {}, call('HGETALL', DEAD)
  for i = 1, #all, 2 do
    local parts = unframed(all[i + 1])
    local inbounds = unframed(parts[4])
    local others = others_of(inbounds)
    if #others < #inbounds or (parts[5] and string.find(parts[5], author, 1, true)) then mine[#mine + 1] = {all[i], parts, others} end
  end
  return mine
end

local function timers_of()
  local mine, all = {}, timers()
  for i = 1, #all, 2 do
    if string.match(all[i + 1], '^%d+ %d+ %d+ %S+ %S+ %S+ %S+ %S+ (%S+)') == author then
      mine[#mine + 1] = all[i]
    end
  end
  return mine
end

local speaks = turn and includes(author)
local inbounds, mine, dead, alarms = waiting(), lines(), letters(), timers_of()
local waits = #others_of(inbounds) < #inbounds
if not (speaks or waits or #mine > 0 or #dead > 0 or #alarms > 0) then return {'erased', 0} end
if ARGV[4] == '0' then return {'erased', 1} end

if speaks then
  local others = others_of(inbounds_of_turn())
  end_turn()
  for i = #others, 1, -1 do call('LPUSH', INBOX, anew(others[i])) end
  call('ZREM', WAKE, name)
end
withdraw(author)
relent()
for _, line in ipairs(mine) do call('LREM', TRANSCRIPT, 1, line) end
for _, letter in ipairs(dead) do
  if #letter[3] == 0 then
    drop_letter(letter[1])
  else
    letter[2][4] = framed(letter[3])
    call('HSET', DEAD, letter[1], framed(letter[2]))
  end
end
for _, id in ipairs(alarms) do drop_alarm(id) end
call('DEL', ANSWERS)
rewake()
sweep()
return {'erased', 1}
