-- Answers kept for repeats, of one conversation, oldest first: '<operation> <microseconds> <reply>'.
-- A reply is packed, or '=' and the one string that it is.

-- Keep answers for repeats; those that are out of their window go.
local function keep_answers(...)
  local kept = call('RPUSH', ANSWERS, ...)
  call('PEXPIRE', ANSWERS, OP_WINDOW_MS)
  while kept > FEW_ANSWERS do
    local at = string.match(call('LINDEX', ANSWERS, 0), '^%S+ (%d+)')
    if tonumber(at) >= now - OP_WINDOW then return end
    call('LPOP', ANSWERS)
    kept = kept - 1
  end
end
