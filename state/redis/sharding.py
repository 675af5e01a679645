"""The steps by which processes share the shards of one bot."""

from state.ids import checked_id
from state.outcomes import Busy, ShardLease
from state.redis import scripts, wire
from state.redis.handle import Handle


class Sharding(Handle):
    """Leases on ranges of shards, and the gate of Discord's identify limit."""

    async def claim_shards(
        self, name: str, *, op: str, seconds: float, by: str = ""
    ) -> ShardLease | Busy:
        """See `State.claim_shards`."""
        keys = self._keys.shards(checked_id(name, "shards"))
        given = (op, wire.microseconds(seconds))
        kind, *told = await self._run(scripts.CLAIM_SHARDS, keys, given)
        if kind == b"busy":
            expires, now = map(int, told)
            return Busy(expires / 1000 - now / 1e6)
        epoch, token, expires = told
        return ShardLease(name, int(epoch), token.decode(), int(expires))

    async def renew_shards(self, lease: ShardLease, seconds: float) -> bool:
        """See `State.renew_shards`."""
        return await self._held_shards(lease, wire.microseconds(seconds))

    async def release_shards(self, lease: ShardLease) -> bool:
        """See `State.release_shards`."""
        return await self._held_shards(lease, "")

    async def _held_shards(self, lease: ShardLease, prolonged: str | int) -> bool:
        keys = self._keys.shards(lease.name)[:1]
        done = await self._run(scripts.RENEW_SHARDS, keys, [lease.token, prolonged])
        return bool(done == 1)

    async def identify_gate(self, bucket: int, *, every: float = 5.0) -> float:
        """See `State.identify_gate`."""
        keys, given = [self._keys.gate(bucket)], [wire.microseconds(every)]
        return int(await self._run(scripts.IDENTIFY_GATE, keys, given)) / 1e6
