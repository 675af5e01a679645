"""A connection to one server that is made anew whenever it was lost."""

import asyncio
from collections.abc import Callable

from redis.asyncio.connection import AbstractConnection

from state.redis.driver import SOCKET_TIMEOUT
from state.redis.mux import Mux


class Line:
    """The way to one server; all who need it share one connection, and one attempt to make it."""

    def __init__(self, new_connection: Callable[[], AbstractConnection]) -> None:
        """Connect with *new_connection*, not before it is needed."""
        self._new_connection = new_connection
        #: The latest connection, which may be lost.
        self.mux: Mux | None = None
        self._connecting: asyncio.Task[Mux] | None = None
        self._closed = False

    async def close(self) -> None:
        """Give back the connection; calls that still wait for a reply fail."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        if self.mux is not None:
            await self.mux.close()
            self.mux = None

    async def connected(self) -> Mux:
        """Return the connection, made anew if it was lost."""
        if self._closed:
            raise ConnectionError("the connection was given back")
        if self.mux is not None and self.mux.open:
            return self.mux
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect())
            self._connecting.add_done_callback(self._connected_or_not)
        return await asyncio.shield(self._connecting)

    async def _connect(self) -> Mux:
        lost, self.mux = self.mux, None
        if lost is not None:  # redis-py has to let go of what is left of it
            await lost.close()
        connection = self._new_connection()
        try:
            async with asyncio.timeout(SOCKET_TIMEOUT):
                await connection.connect()  # type: ignore[no-untyped-call]
            self.mux = Mux(connection)
        except TimeoutError:
            await connection.disconnect(nowait=True)
            raise ConnectionError(f"no connection within {SOCKET_TIMEOUT:g} s") from None
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        return self.mux

    def _connected_or_not(self, attempt: asyncio.Task[Mux]) -> None:
        self._connecting = None
        if not attempt.cancelled():
            attempt.exception()  # seen: whoever waited was told, and nobody may have waited
