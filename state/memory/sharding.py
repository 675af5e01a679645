"""Leases on ranges of shards, and the identify gate."""

from dataclasses import replace

from state.ids import checked_id
from state.memory.handle import Handle
from state.outcomes import (
    Busy,
    ShardLease,
)
from state.values import (
    Conversation,
)


class Sharding(Handle):
    """How the processes of one `Database` share the shards of their bot."""

    async def claim_shards(
        self, name: str, *, op: str, seconds: float, by: str = ""
    ) -> ShardLease | Busy:
        """See `State.claim_shards`."""
        now = self._now()
        place = Conversation("shards", checked_id(name, "shards"))
        first: ShardLease | Busy | None = self._first_answer(place, op)
        if first is not None:
            return first
        last = self._db.shards.get(name)
        if last is not None and last.token and last.expires > now // 1000:
            return Busy(last.expires / 1000 - now / 1e6)
        epoch = last.epoch + 1 if last else 1
        lease = ShardLease(name, epoch, f"{epoch}-{op}", (now + int(seconds * 1e6)) // 1000)
        self._db.shards[name] = lease
        return self._answer(place, op, lease)

    async def renew_shards(self, lease: ShardLease, seconds: float) -> bool:
        """See `State.renew_shards`."""
        now = self._now()
        last = self._db.shards.get(lease.name)
        if last is None or last.token != lease.token or last.expires <= now // 1000:
            return False
        expires = (now + int(seconds * 1e6)) // 1000
        self._db.shards[lease.name] = replace(last, expires=expires)
        return True

    async def release_shards(self, lease: ShardLease) -> bool:
        """See `State.release_shards`."""
        now = self._now()
        last = self._db.shards.get(lease.name)
        if last is None or last.token != lease.token or last.expires <= now // 1000:
            return False
        self._db.shards[lease.name] = replace(last, token="", expires=0)
        return True

    async def identify_gate(self, bucket: int, *, every: float = 5.0) -> float:
        """See `State.identify_gate`."""
        now = self._now()
        free = self._db.gates.get(bucket, 0)
        if free > now:
            return (free - now) / 1e6
        self._db.gates[bucket] = now + int(every * 1e6)
        return 0.0
