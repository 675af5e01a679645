"""
The identify gate of all processes of one bot.

Discord lets one shard per bucket begin a session in five seconds. discord.py keeps that within one
process only, and never for its first shard; whoever breaks it is thrown out with op 9.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bot.insist import insist
from state.ports import State

#: Seconds between two identifies of one bucket, as Discord documents it.
EVERY = 5.0

log = structlog.get_logger(__name__)


class IdentifyGate:
    """Lets the shards of this process identify when it is their turn among all processes."""

    def __init__(self, state: State, max_concurrency: Callable[[], Awaitable[int]]) -> None:
        """*max_concurrency* asks Discord how many buckets there are; it is asked once."""
        self._state = state
        self._ask = max_concurrency
        self._buckets: int | None = None

    async def wait(self, shard: int) -> None:
        """Return when *shard* may identify."""
        if self._buckets is None:
            self._buckets = max(1, await self._ask())
        bucket = shard % self._buckets
        while wait := await insist(lambda: self._state.identify_gate(bucket, every=EVERY)):
            log.debug("waiting to identify", shard=shard, seconds=wait)
            await asyncio.sleep(wait)
