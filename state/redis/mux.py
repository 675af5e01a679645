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
from state.redis.resp import ServerError, replies_in

#: Questions that may wait for their replies; more callers queue up before they ask. Relation: far
#: more than one turn of the loop asks, few enough that a stalled server holds little memory.
IN_FLIGHT = 1000

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
        #: Whether the connection stands, as far as is known, and whether it can be asked at once.
        self.open = self.ready = True
        self._buffer = bytearray(_READ)
        self._read = memoryview(self._buffer)
        self._rest = b""
        self._out: list[bytes] = []
        self._waiting: deque[asyncio.Future[Any]] = deque()
        #: Callers who wait until they may ask.
        self._crowd: list[asyncio.Future[None]] = []
        #: Questions sent so far; for each write when it left, and how many had been sent then.
        self._sent = 0
        self._writes: deque[tuple[float, int]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = self._loop.create_future()
        self._transport.set_protocol(self)

    async def room(self) -> None:
        """Return when fewer than `IN_FLIGHT` questions wait, or the connection is lost."""
        while self.open and not self.ready:
            place = self._loop.create_future()
            self._crowd.append(place)
            await place

    def ask(self, question: bytes) -> asyncio.Future[Any]:
        """Send a packed command; its reply fulfils the future, a lost connection fails it."""
        reply = self._loop.create_future()
        self._waiting.append(reply)
        if len(self._waiting) >= IN_FLIGHT:
            self.ready = False
        self._out.append(question)
        if len(self._out) == 1:
            self._loop.call_soon(self._flush)
        return reply

    def abandon(self) -> None:
        """Cut the connection, without a word to a server that may not listen."""
        self.open = self.ready = False
        self._transport.abort()

    async def close(self) -> None:
        """Close the connection; whoever still waits hears of it."""
        self.abandon()
        await self._closed
        await self._connection.disconnect(nowait=True)

    def _flush(self) -> None:
        out, self._out = self._out, []
        if self._transport.is_closing():
            return
        now = self._loop.time()
        self._sent += len(out)
        self._forget_answered()
        self._writes.append((now, self._sent))
        if self._timer is None:
            self._timer = self._loop.call_at(now + SOCKET_TIMEOUT, self._check)
        self._transport.write(b"".join(out))

    def _check(self) -> None:
        """Abandon a connection that owes a reply for too long; one timer serves all calls."""
        self._timer = None
        self._forget_answered()
        if not self._writes:
            return
        due = self._writes[0][0] + SOCKET_TIMEOUT
        if due > self._loop.time():
            self._timer = self._loop.call_at(due, self._check)
        else:
            self.abandon()

    def _forget_answered(self) -> None:
        answered = self._sent - len(self._waiting) + len(self._out)
        while self._writes and self._writes[0][1] <= answered:
            self._writes.popleft()

    # --- what the transport calls ---------------------------------------------------------------

    def get_buffer(self, sizehint: int) -> bytearray:
        """Give the place for the next bytes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Hand out the replies that are there as a whole."""
        received = bytes(self._read[:nbytes])
        buffer = self._rest + received if self._rest else received
        answers, at = replies_in(buffer)
        self._rest = buffer[at:]
        for answer in answers:
            reply = self._waiting.popleft()
            if reply.done():  # its caller was cancelled
                continue
            if isinstance(answer, ServerError):
                reply.set_exception(answer)
            else:
                reply.set_result(answer)
        if self.open and not self.ready and len(self._waiting) < IN_FLIGHT:
            self.ready = True
            self._let_in()

    def _let_in(self) -> None:
        crowd, self._crowd = self._crowd, []
        for place in crowd:
            if not place.done():
                place.set_result(None)

    def eof_received(self) -> None:
        """Let the transport close itself."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell everybody that the outcome of their question is unknown."""
        self.open = self.ready = False
        if self._timer is not None:
            self._timer.cancel()
        reason = ConnectionError(str(exc) if exc else "the connection was closed")
        while self._waiting:
            reply = self._waiting.popleft()
            if not reply.done():
                reply.set_exception(reason)
        self._let_in()
        self._before.connection_lost(exc)
        if not self._closed.done():
            self._closed.set_result(None)
