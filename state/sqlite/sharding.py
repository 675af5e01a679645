"""The steps of `state.ports.Sharding`: leases on ranges of shards, and the identify gate."""

from state.ids import checked_id
from state.outcomes import Busy, ShardLease
from state.sqlite.handle import Handle
from state.sqlite.transaction import Transaction
from state.values import Conversation


class Sharding(Handle):
    """How the processes of one file share the shards of their bot."""

    async def claim_shards(
        self, name: str, *, op: str, seconds: float, by: str = ""
    ) -> ShardLease | Busy:
        """See `State.claim_shards`."""
        place = Conversation("shards", checked_id(name, "shards"))
        return await self._write(lambda tx: claim_shards(tx, place, op, seconds))

    async def renew_shards(self, lease: ShardLease, seconds: float) -> bool:
        """See `State.renew_shards`."""
        return await self._write(lambda tx: renew_shards(tx, lease, seconds))

    async def release_shards(self, lease: ShardLease) -> bool:
        """See `State.release_shards`."""
        return await self._write(lambda tx: release_shards(tx, lease))

    async def identify_gate(self, bucket: int, *, every: float = 5.0) -> float:
        """See `State.identify_gate`."""
        return await self._write(lambda tx: identify_gate(tx, bucket, every))


def claim_shards(
    tx: Transaction, place: Conversation, op: str, seconds: float
) -> ShardLease | Busy:
    """See `State.claim_shards`."""
    first: ShardLease | Busy | None = tx.first_answer(place, op)
    if first is not None:
        return first
    found = tx.execute(
        "SELECT epoch, token, expires FROM shard WHERE name = ?", (place.id,)
    ).fetchone()
    last, token, expires = found or (0, "", 0)
    if token and expires > tx.now // 1000:
        return Busy(expires / 1000 - tx.now / 1e6)
    until = (tx.now + int(seconds * 1e6)) // 1000
    lease = ShardLease(place.id, last + 1, f"{last + 1}-{op}", until)
    tx.execute(
        "INSERT OR REPLACE INTO shard VALUES (?, ?, ?, ?)",
        (lease.name, lease.epoch, lease.token, lease.expires),
    )
    tx.remember(place, op, lease)
    return lease


def renew_shards(tx: Transaction, lease: ShardLease, seconds: float) -> bool:
    """See `State.renew_shards`."""
    until = (tx.now + int(seconds * 1e6)) // 1000
    renewed = tx.execute(
        "UPDATE shard SET expires = ? WHERE name = ? AND token = ? AND expires > ?",
        (until, lease.name, lease.token, tx.now // 1000),
    )
    return renewed.rowcount == 1


def release_shards(tx: Transaction, lease: ShardLease) -> bool:
    """See `State.release_shards`."""
    released = tx.execute(
        "UPDATE shard SET token = '', expires = 0 WHERE name = ? AND token = ? AND expires > ?",
        (lease.name, lease.token, tx.now // 1000),
    )
    return released.rowcount == 1


def identify_gate(tx: Transaction, bucket: int, every: float) -> float:
    """See `State.identify_gate`."""
    found = tx.execute("SELECT free FROM gate WHERE bucket = ?", (bucket,)).fetchone()
    free = found[0] if found else 0
    if free > tx.now:
        return (free - tx.now) / 1e6
    tx.execute("INSERT OR REPLACE INTO gate VALUES (?, ?)", (bucket, tx.now + int(every * 1e6)))
    return 0.0
