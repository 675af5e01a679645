"""Faults in who owns a range of shards, and in who may identify."""

import asyncio

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.outcomes import Busy, ShardLease


@caught_by(
    "test_the_epoch_grows_with_each_owner",
    "test_a_claim_of_shards_sent_twice",
)
class ForgetsTheEpoch(MemoryState):
    """A range that was released begins anew with its first epoch."""

    async def release_shards(self, lease: ShardLease) -> bool:
        """Forget the range."""
        released = await super().release_shards(lease)
        if released:
            self._db.shards.pop(lease.name, None)
        return released


@caught_by(
    "test_a_range_is_renewed_from_now_on",
    "test_a_released_range_is_free",
    "test_an_expired_range_is_taken_over",
)
class RenewsWhatHasEnded(MemoryState):
    """A lease on shards is renewed by its token, though it has ended."""

    async def renew_shards(self, lease: ShardLease, seconds: float) -> bool:
        """Look at the epoch alone."""
        last = self._db.shards.get(lease.name)
        return last is not None and last.epoch == lease.epoch


@caught_by("test_of_many_who_claim_a_range_one_owns_it")
class ClaimsShardsInTwoSteps(MemoryState):
    """A range is looked at, and a moment later it is taken."""

    async def claim_shards(
        self, name: str, *, op: str, seconds: float, by: str = ""
    ) -> ShardLease | Busy:
        """Look, wait, take."""
        last = self._db.shards.get(name)
        await asyncio.sleep(0)
        if last is None:
            self._db.shards.pop(name, None)
        return await super().claim_shards(name, op=op, seconds=seconds, by=by)


@caught_by("test_a_range_of_shards_has_one_owner")
class OwnsByTheFirstShard(MemoryState):
    """Ranges that begin alike are one."""

    async def claim_shards(
        self, name: str, *, op: str, seconds: float, by: str = ""
    ) -> ShardLease | Busy:
        """Find the other range first."""
        for other in self._db.shards:
            if other != name and other.split("-")[0] == name.split("-", maxsplit=1)[0]:
                return Busy(seconds)
        return await super().claim_shards(name, op=op, seconds=seconds, by=by)


@caught_by("test_the_gate_keeps_to_the_time_it_was_told")
class HurriesAtTheGate(MemoryState):
    """Who asks again is let through after its own time, not after the last one's."""

    async def identify_gate(self, bucket: int, *, every: float = 5.0) -> float:
        """Open the gate at most so many seconds after now."""
        wait = await super().identify_gate(bucket, every=min(every, 5.0))
        return min(wait, every)


@caught_by(
    "test_the_gate_lets_one_identify_at_a_time",
)
class OneGateForAll(MemoryState):
    """All buckets share one gate."""

    async def identify_gate(self, bucket: int, *, every: float = 5.0) -> float:
        """Ask at the first."""
        return await super().identify_gate(0, every=every)
