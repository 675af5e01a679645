"""
One connection for many callers: what they ask in one turn of the event loop leaves in one write.

redis-py opens the connection: TCP or TLS, AUTH, SELECT. From then on only bytes are written and
replies read here, in the order of their questions, which is how Redis answers. A caller that is
cancelled leaves its place in that order behind, so the connection stays in step.
"""

import asyncio
from collections import deque
from typing import Any, cast

from redis.asyncio.connection import AbstractConnection

from state.redis.driver import SOCKET_TIMEOUT
from state.redis.resp import Incomplete, ServerError, parse

#: Bytes read at once. Relation: asyncio's own way allocates 256 KiB for each read.
_READ = 1 << 16


class Mux(asyncio.BufferedProtocol):
    """Takes over a connection that redis-py has made; lives as long as that does."""

    def __init__(self, connection: AbstractConnection) -> None:
        """Start reading replies; nothing may be outstanding on *connection*."""
        self._loop = asyncio.get_running_loop()
        self._connection = connection
        writer = connection._writer  # noqa: SLF001 (redis-py offers no other way to its transport)
        if writer is None:
            raise ConnectionError("closed before it was used")
        self._transport = cast("asyncio.Transport", writer.transport)
        #: redis-py's own protocol, which has to hear of the end.
        self._before = self._transport.get_protocol()
        self._buffer = bytearray(_READ)
        self._read = memoryview(self._buffer)
        self._rest = b""
        self._out: list[bytes] = []
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        #: When something was last heard, or first asked after a silence.
        self._since = 0.0
        self._closed = self._loop.create_future()
        self._transport.set_protocol(self)

    @property
    def usable(self) -> bool:
        """Whether it can be asked."""
        return not self._transport.is_closing()

    @property
    def in_flight(self) -> int:
        """How many questions wait for their reply."""
        return len(self._waiting)

    def ask(self, question: bytes) -> asyncio.Future[Any]:
        """Send a packed command; its reply fulfils the future, a lost connection fails it."""
        reply = self._loop.create_future()
        self._waiting.append(reply)
        self._out.append(question)
        if len(self._out) == 1:
            self._loop.call_soon(self._flush)
        return reply

    async def close(self) -> None:
        """Close the connection; whoever still waits hears of it."""
        self._transport.close()
        await self._closed
        await self._connection.disconnect(nowait=True)

    def _flush(self) -> None:
        out, self._out = self._out, []
        if self._transport.is_closing():
            return
        if len(out) == len(self._waiting):  # nothing was asked before these
            self._since = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(SOCKET_TIMEOUT, self._check)
        self._transport.write(b"".join(out))

    def _check(self) -> None:
        """Give the connection up when nothing was heard for too long; one timer for all calls."""
        self._timer = None
        if not self._waiting:
            return
        left = self._since + SOCKET_TIMEOUT - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._check)
        else:
            self._transport.abort()

    # --- what the transport calls ---------------------------------------------------------------

    def get_buffer(self, sizehint: int) -> bytearray:
        """Give the place for the next bytes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Hand out the replies that are there as a whole."""
        self._since = self._loop.time()
        received = bytes(self._read[:nbytes])
        buffer = self._rest + received if self._rest else received
        at, end, waiting = 0, len(buffer), self._waiting
        try:
            while at < end:
                reply, at = parse(buffer, at)
                future = waiting.popleft()
                if future.done():  # its caller was cancelled
                    continue
                if isinstance(reply, ServerError):
                    future.set_exception(reply)
                else:
                    future.set_result(reply)
        except Incomplete:
            self._rest = buffer[at:]
            return
        self._rest = b""

    def eof_received(self) -> None:
        """Let the transport close itself."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell everybody that the outcome of their question is unknown."""
        if self._timer is not None:
            self._timer.cancel()
        lost = ConnectionError(str(exc) if exc else "the connection was closed")
        while self._waiting:
            reply = self._waiting.popleft()
            if not reply.done():
                reply.set_exception(lost)
        self._before.connection_lost(exc)
        if not self._closed.done():
            self._closed.set_result(None)
