"""What happens to a Redis: it hangs, its memory fills up, it is emptied or restored."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from state.contract.faults import FOREIGN, Faults, Poison
from state.redis.keys import Keys, meta
from state.redis.way import Way, way_to
from state.values import Conversation

#: Milliseconds after which a server that a test has left stopped goes on by itself.
LONGEST_STOP = 30_000


class RedisFaults(Faults):
    """Faults of one application's part of a server or a cluster; some are the whole server's."""

    def __init__(self, url: str, prefix: str) -> None:
        """Take the address, whose user may do everything, and the application's prefix."""
        self._url, self._prefix = url, prefix
        #: Milliseconds to live and value of each key.
        self._copied: dict[bytes, tuple[int, bytes]] = {}

    @asynccontextmanager
    async def _server(self) -> AsyncIterator[Way]:
        way = way_to(self._url)
        try:
            yield way
        finally:
            await way.close()

    async def stop(self) -> None:
        """See `Faults.stop`."""
        async with self._server() as server:
            await server.everywhere("CLIENT", "PAUSE", LONGEST_STOP, "WRITE")

    async def start(self) -> None:
        """See `Faults.start`."""
        async with self._server() as server:
            await server.everywhere("CLIENT", "UNPAUSE")

    async def fill(self) -> None:
        """See `Faults.fill`."""
        async with self._server() as server:
            await server.everywhere("CONFIG", "SET", "maxmemory", "1")

    async def make_room(self) -> None:
        """See `Faults.make_room`."""
        async with self._server() as server:
            await server.everywhere("CONFIG", "SET", "maxmemory", "0")

    async def copy(self) -> None:
        """See `Faults.copy`."""
        async with self._server() as server:
            for key in await self._keys(server):
                life = await server.command("PTTL", key)
                self._copied[key] = max(life, 0), await server.command("DUMP", key)

    async def restore(self) -> None:
        """See `Faults.restore`."""
        await self.flush()
        async with self._server() as server:
            for key, (life, value) in self._copied.items():
                await server.command("RESTORE", key, life, value)

    async def flush(self) -> None:
        """See `Faults.flush`: all that is of this application, and the scripts."""
        async with self._server() as server:
            for key in await self._keys(server):
                await server.command("DEL", key)
            await server.everywhere("SCRIPT", "FLUSH")

    async def _keys(self, server: Way) -> set[bytes]:
        patterns = (f"{{{self._prefix}}}:*", f"{{{self._prefix}:*")
        return {
            key
            for pattern in patterns
            async for some in server.keys_like(pattern, 1000)
            for key in some
        }

    async def poison(self, at: Conversation, what: Poison) -> None:
        """See `Faults.poison`."""
        partitions = await self._partitions()
        of = Keys(self._prefix, partitions).of(at)
        async with self._server() as server:
            match what:
                case Poison.WAITING:
                    await server.command("LSET", f"{of.tag}:inbox:{of.name}", 0, FOREIGN)
                case Poison.TURN:
                    await server.command("HSET", of.turn, "inbounds", FOREIGN)
                case Poison.TIMER:
                    alarms = f"{of.tag}:alarms:{of.name}"
                    (timer,) = await server.command("HKEYS", alarms)
                    await server.command("HSET", alarms, timer, FOREIGN)

    async def _partitions(self) -> int:
        async with self._server() as server:
            return int(await server.command("HGET", meta(self._prefix), "partitions"))

    async def newer(self) -> None:
        """See `Faults.newer`."""
        async with self._server() as server:
            await server.command("HSET", meta(self._prefix), "schema", "99")
