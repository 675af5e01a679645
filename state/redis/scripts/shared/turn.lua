-- The unfinished turn: a hash whose fields are only ever added, so that its length tells their order.
-- `turn` is '<id> <lead> <admitted> <begun> <token>', the token being that of the admit which made
-- it at once, else '*'; `signal` is '<kind> <by>'. A conversation held without a turn has a token.
local turn, token, expires, signal, backing, detached = unpack(
  call('HMGET', TURN, 'turn', 'token', 'expires', 'signal', 'backing', 'detached'))
if signal == '' then signal = false end -- one that was taken back
expires, backing = tonumber(expires or 0), tonumber(backing or 0)
local held = token and token ~= '' and expires > now
