-- Put what waits for a turn into a new one in its place.
-- KEYS[1-13]  the conversation; more after them, see more.lua
-- ARGV[3-]    operation, token, hand-over and changes, see changes.lua; the state is not written
-- own         '1' and what is handed on to the new turn, or '' twice
-- Returns     gone | lost | turnover <Turnover>

-- include clock
-- include room
-- include conversation
-- include gone
-- include turn
-- include changes
-- include write
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

if not turn or not held or token ~= lease_token then return first_answer(op) or {'lost'} end
-- What the turn was to answer and its successor still is: all of it, or what others wrote.
local function staying(moved, rejoined)
  local heard, again = {}, {}
  for _, inbound in ipairs(moved) do heard[author_of(inbound)] = true end
  for _, inbound in ipairs(inbounds_of_turn()) do
    if rejoined or not heard[author_of(inbound)] then again[#again + 1] = inbound end
  end
  return again
end

local function successor()
  if ENDED_BY[pending()] then return nil end
  local moved = succeeding()
  if #moved == 0 then return nil end
  local admitted
  for _, inbound in ipairs(moved) do
    call('LREM', INBOX, 1, inbound)
    local at = tonumber(string.match(inbound, '^%d+'))
    admitted = math.min(admitted or at, at)
  end
  local rejoined, followups = unpack(call('HMGET', TURN, 'rejoined', 'followups'))
  followups = tonumber(followups or 0) + (rejoined == '1' and 0 or 1)
  local again = staying(moved, rejoined == '1')
  if #again == 0 then return moved, int(admitted), followups end
  return extend(again, moved), string.match(turn, '^%S+ %S+ (%d+)'), followups
end

local moved, admitted, followups = successor()
for _, inbound in ipairs(moved or {}) do goes_on[id_of(inbound)] = true end
if more ~= '' then
  -- include beside
  -- include more
  write_more(own_at + 2)
end
write()
end_turn()
if moved then begin(moved, admitted, followups, ARGV[own_at] == '1' and ARGV[own_at + 1]) end
local started = next_turn(op, lease, patience)
sweep()
return answer(op, with_turnover({'turnover'}, started))
