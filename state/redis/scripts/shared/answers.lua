-- Answers kept for repeats: '<operation> <microseconds> <reply>', of one conversation, oldest first.

-- What a commit answers that handed nothing over: cmsgpack of {'released'}.
local RELEASED = '\145\168released'

-- Keep answers that are packed already; those that are out of their window go.
local function keep_packed(...)
  local kept = call('RPUSH', ANSWERS, ...)
  call('PEXPIRE', ANSWERS, int(OP_WINDOW / 1000))
  while kept > FEW_ANSWERS do
    local at = string.match(call('LINDEX', ANSWERS, 0), '^%S+ (%d+)')
    if tonumber(at) >= now - OP_WINDOW then return end
    call('LPOP', ANSWERS)
    kept = kept - 1
  end
end
