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
if more ~= '' then
  -- include beside
  -- include more
  write_more(own_at + 2)
end
write()

-- What moves into the turn after this one: its lead's or everybody's, and what continues it.
local function succeeding(everyone)
  local moved, answered = {}, {}
  for _, inbound in ipairs(inbounds_of_turn()) do answered[id_of(inbound)] = true end
  for _, inbound in ipairs(waiting()) do
    local joins = string.match(inbound, '^%d+ %S+ %S+ %d+ %d (%S+)')
    if everyone or author_of(inbound) == lead() or answered[joins] then
      moved[#moved + 1] = inbound
      answered[id_of(inbound)] = true
      call('LREM', INBOX, 1, inbound)
    end
  end
  return moved
end

local function successor()
  if ENDED_BY[pending()] then return nil end
  local admitted
  local everyone, rejoined, followups = unpack(call('HMGET', TURN, 'everyone', 'rejoined', 'followups'))
  local moved = succeeding(everyone)
  if #moved == 0 then return nil end
  for _, inbound in ipairs(moved) do
    local at = tonumber(string.match(inbound, '^%d+'))
    admitted = math.min(admitted or at, at)
  end
  followups = tonumber(followups or 0)
  if not rejoined then return moved, int(admitted), followups + 1 end
  local again = unframed(call('HGET', TURN, 'inbounds'))
  return extend(again, moved), string.match(turn, '^%S+ %S+ (%d+)'), followups
end

local moved, admitted, followups = successor()
end_turn()
if moved then begin(moved, admitted, followups, ARGV[own_at] == '1' and ARGV[own_at + 1]) end
local started = next_turn(op, lease, patience)
sweep()
return answer(op, with_turnover({'turnover'}, started))
