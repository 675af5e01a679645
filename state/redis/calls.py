"""
Calls of scripts and commands: a deadline on each, repeats that are safe, our own errors.

A lost reply tells nothing about what happened. Every step carries an operation id or is repeatable
by nature, so that an unknown outcome is settled by asking again.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from time import monotonic  # the clock of every event loop, without asking which one runs
from typing import Any

from redis.asyncio.connection import AbstractConnection

from state.errors import StateUnavailable
from state.redis.driver import (
    FAILURES,
    SOCKET_TIMEOUT,
    connections_to,
    may_pass,
    refusal,
    shown,
    unavailable,
)
from state.redis.line import Line
from state.redis.resp import Argument, ServerError, command
from state.redis.scripts import Script

#: Seconds for one call with all its repeats. Relation: room for two lost replies of
#: `SOCKET_TIMEOUT` each; far below the 20 s after which a repeat would be no repeat any more.
CALL_TIMEOUT = 5.0

#: Seconds before a repeat, drawn anew each time so that processes do not repeat in step.
PAUSE = (0.02, 0.2)


class Calls:
    """A way to one Redis server."""

    def __init__(self, url: str) -> None:
        """Take a URL as redis-py reads it; nothing is connected before the first call."""
        self._url = url
        self._line = Line(connections_to(url, timeout=SOCKET_TIMEOUT))
        #: Set once the store was checked: from then on no error means that it must not be used.
        self.checked = False
        self._closed = False

    async def close(self) -> None:
        """Give back the connection; calls that still wait fail."""
        self._closed = True
        await self._line.close()

    async def run(self, script: Script, question: bytes) -> Any:  # noqa: ANN401 (each answers its own)
        """
        Run a script until it has answered once.

        *question* is the whole packed command. Raise `StateUnavailable` after the deadline.
        """
        mux, deadline = self._line.mux, monotonic() + CALL_TIMEOUT
        if mux is not None and mux.ready:
            try:
                return await mux.ask(question)
            except FAILURES as error:
                await self._judge(error, script, deadline)
        return await self._again(question, deadline, script)

    async def command(self, *arguments: Argument) -> Any:  # noqa: ANN401 (each answers its own)
        """Send a command that may be sent twice."""
        deadline = monotonic() + CALL_TIMEOUT
        return await self._again(command(*arguments), deadline, None)

    async def everywhere(self, *arguments: Argument) -> dict[str, Any]:
        """Send a command to the server; answer by its address, as for a cluster."""
        return {shown(self._url): await self.command(*arguments)}

    async def keys_like(self, pattern: str, count: int) -> AsyncIterator[list[bytes]]:
        """Look through all keys, about *count* at a time."""
        cursor = b"0"
        while True:
            cursor, keys = await self.command("SCAN", cursor, "MATCH", pattern, "COUNT", count)
            yield keys
            if cursor == b"0":
                return

    async def members_like(self, key: str, pattern: str, count: int) -> AsyncIterator[list[bytes]]:
        """Look through a sorted set, about *count* members at a time."""
        cursor = b"0"
        while True:
            asked = ("ZSCAN", key, cursor, "MATCH", pattern, "COUNT", count)
            cursor, found = await self.command(*asked)
            yield found[::2]
            if cursor == b"0":
                return

    def listening(self) -> AbstractConnection:
        """Return a new connection for a listener."""
        return connections_to(self._url, timeout=None)()

    async def _again(self, question: bytes, deadline: float, script: Script | None) -> Any:  # noqa: ANN401
        failure: Exception = TimeoutError("no connection in time")
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    mux = await self._line.connected()
                    await mux.room()
                    return await mux.ask(question)
            except TimeoutError:
                raise unavailable(failure, self._url) from None
            except FAILURES as error:
                if self._closed:
                    raise StateUnavailable("the state was closed") from None
                failure = error
                await self._judge(error, script, deadline)

    async def _judge(self, error: Exception, script: Script | None, deadline: float) -> None:
        """Return when the call is worth repeating, after what that takes; else raise."""
        if isinstance(error, ServerError) and error.code == "NOSCRIPT" and script is not None:
            await self._again(command("SCRIPT", "LOAD", script.text), deadline, None)
            return
        mux = self._line.mux
        if mux is not None and isinstance(error, ServerError) and error.code == "READONLY":
            mux.abandon()  # the primary moved; its address leads to the new one
        if not may_pass(error):
            raise refusal(error, self._url, checked=self.checked) from None
        await asyncio.sleep(random.uniform(*PAUSE))
