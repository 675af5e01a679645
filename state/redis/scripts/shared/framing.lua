-- Several strings in one: '<length>:<string>' each.

local function framed(strings)
  local parts = {}
  for i, one in ipairs(strings) do parts[i] = #one .. ':' .. one end
  return table.concat(parts)
end

local function unframed(text)
  local strings, at = {}, 1
  while at <= #text do
    local colon = string.find(text, ':', at, true)
    local stop = colon + tonumber(string.sub(text, at, colon - 1))
    strings[#strings + 1] = string.sub(text, colon + 1, stop)
    at = stop + 1
  end
  return strings
end

-- Append the items of a list to another.
local function extend(list, items)
  local at = #list
  for i = 1, #items do list[at + i] = items[i] end
  return list
end
