-- The answer that a repeat of an operation gets, and what is kept for it.

local function first_answer(op)
  for _, kept in ipairs(call('LRANGE', ANSWERS, 0, -1)) do
    local of, at, gap = string.match(kept, '^(%S+) (%d+) ()')
    if of == op and tonumber(at) >= now - OP_WINDOW then
      return string.match(kept, '^=(.*)$', gap) or cmsgpack.unpack(string.sub(kept, gap))
    end
  end
  return nil
end

local function answer(op, reply)
  keep_answers(op .. ' ' .. int(now) .. ' ' .. cmsgpack.pack(reply))
  return reply
end
