"""The steps by which processes share the shards of one bot."""

from typing import Protocol

from state.outcomes import Busy, ShardLease


class Sharding(Protocol):
    """Leases on ranges of shards, and the gate of Discord's identify limit."""

    async def claim_shards(
        self, name: str, *, op: str, seconds: float, by: str = ""
    ) -> ShardLease | Busy:
        """
        Take the range *name* (such as `0-3/16`), if nobody holds it: Busy says for how long.

        The epoch is one higher than the range's last; it grows with each change of owner.
        """
        ...

    async def renew_shards(self, lease: ShardLease, seconds: float) -> bool:
        """Prolong it to *seconds* from now; False when it has expired or is somebody else's."""
        ...

    async def release_shards(self, lease: ShardLease) -> bool:
        """Give it back; False when it was not held (any more). The epoch is remembered."""
        ...

    async def identify_gate(self, bucket: int, *, every: float = 5.0) -> float:
        """
        Ask to identify in *bucket* (shard id mod max_concurrency): 0.0 grants it.

        Else seconds to wait before asking again. One is granted per bucket and *every* seconds,
        over all processes; a repeat counts as another, so a lost grant costs its time.
        """
        ...
