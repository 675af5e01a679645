"""One at a time and in order, per key: discord.py makes each gateway event a task of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """
    Let one task at a time through per key, in the order in which they arrived.

    A task must reach `through` without having awaited anything, or the order is lost before.
    """

    def __init__(self) -> None:
        """Start with nobody inside."""
        self._queues: dict[str, tuple[asyncio.Lock, int]] = {}

    def __len__(self) -> int:
        """How many keys somebody is in or waits for."""
        return len(self._queues)

    @asynccontextmanager
    async def through(self, key: str) -> AsyncIterator[None]:
        """Wait for those who came before; asyncio's lock wakes its waiters first come first."""
        lock, users = self._queues.get(key, (asyncio.Lock(), 0))
        self._queues[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            users = self._queues[key][1] - 1
            if users:
                self._queues[key] = (lock, users)
            else:
                del self._queues[key]
