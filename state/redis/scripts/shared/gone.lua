-- What is being forgotten is refused. How often it was forgotten lately makes marks of seen ids from
-- before then mean nothing.
if call('EXISTS', GONE) == 1 then
  local owner = string.match(name, '^%S+')
  local found = call('HMGET', GONE,
    'gone c ' .. name, 'gone o ' .. owner, 'was c ' .. name, 'was o ' .. owner)
  if found[1] or found[2] then return {'gone'} end
  forgotten = (found[3] or 0) + (found[4] or 0)
end
