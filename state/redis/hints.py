"""
Hints: signals as they are published, over a connection of their own.

A half-open connection looks like a silent one, and no setting of the driver tells them apart. So a
listener publishes to itself, and connects anew once it stops hearing that.
"""

import asyncio
import random
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing

from redis.asyncio.connection import AbstractConnection

from state.errors import StateUnavailable
from state.redis.driver import FAILURES, SOCKET_TIMEOUT
from state.redis.keys import Keys
from state.redis.replies import signal_named
from state.redis.way import Way
from state.values import Signal

#: Seconds between two messages to oneself, and of hearing none after which the connection is
#: taken for dead. Relation: three may be missed.
BEAT = 2.0
SILENCE = 6.0

#: Seconds before connecting anew, drawn each time.
PAUSE = (0.1, 0.5)


class Hints:
    """One listener's way to the published signals."""

    def __init__(self, keys: Keys, calls: Way) -> None:
        """Listen to all channels of *keys*; connections and beats come by *calls*."""
        self._calls = calls
        self._beat = keys.beat(secrets.token_hex(8))
        self._channels = [self._beat, *keys.all_hints()]
        self._connection: AbstractConnection | None = None
        self._closed = False

    async def close(self) -> None:
        """End the iteration of `signals`, wherever it waits."""
        self._closed = True
        if self._connection is not None:
            await self._connection.disconnect(nowait=True)

    async def signals(self) -> AsyncGenerator[Signal]:
        """Yield signals over as many connections as it takes."""
        while not self._closed:
            connection = self._connection = self._calls.listening()
            try:
                await self._subscribe(connection)
                async with aclosing(self._heard(connection)) as heard:
                    async for signal in heard:
                        yield signal
            except (*FAILURES, StateUnavailable):
                pass
            finally:
                # Here, whatever `close` saw: it may have come while this was connecting.
                self._connection = None
                await connection.disconnect(nowait=True)
            if not self._closed:
                await asyncio.sleep(random.uniform(*PAUSE))

    async def _subscribe(self, connection: AbstractConnection) -> None:
        async with asyncio.timeout(SOCKET_TIMEOUT):
            await connection.connect()  # type: ignore[no-untyped-call]
            await connection.send_command("SUBSCRIBE", *self._channels)

    async def _heard(self, connection: AbstractConnection) -> AsyncGenerator[Signal]:
        loop = asyncio.get_running_loop()
        heard = loop.time()
        beat_at = heard
        while not self._closed and loop.time() < heard + SILENCE:
            if loop.time() >= beat_at:
                await self._calls.command("PUBLISH", self._beat, "")
                beat_at = loop.time() + BEAT
            message = await connection.read_response(timeout=max(0.0, beat_at - loop.time()))
            if message is None or message[0] != b"message":
                continue
            heard = loop.time()
            if message[1] != self._beat.encode():
                yield signal_named(message[2])
