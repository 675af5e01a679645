"""
Calls of scripts and commands: a deadline on each, repeats that are safe, our own errors.

A lost reply tells nothing about what happened. Every step carries an operation id or is repeatable
by nature, so that an unknown outcome is settled by asking again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from redis.exceptions import NoScriptError

from state.redis.driver import (
    FAILURES,
    SOCKET_TIMEOUT,
    make_pool,
    may_pass,
    unavailable,
    unusable,
)
from state.redis.scripts import Script
from state.redis.wire import Argument

#: Seconds for one call with all its repeats. Relation: room for two lost replies of
#: `SOCKET_TIMEOUT` each; far below the 20 s after which a repeat would be no repeat any more.
CALL_TIMEOUT = 5.0

#: Seconds before a repeat, drawn anew each time so that processes do not repeat in step.
PAUSE = (0.02, 0.2)


class Calls:
    """A way to one Redis server."""

    def __init__(self, url: str, *, connections: int = 16) -> None:
        """Take a URL as redis-py reads it; nothing is connected before the first call."""
        self._url = url
        self._pool = make_pool(url, connections=connections, timeout=SOCKET_TIMEOUT)
        #: Set once the store was checked: from then on no error means that it must not be used.
        self.checked = False

    async def close(self) -> None:
        """Give back every connection."""
        await self._pool.aclose()

    async def run(
        self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]
    ) -> list[Any]:
        """Run a script until it has answered once; raise `StateUnavailable` after the deadline."""
        called = ("EVALSHA", script.sha, len(keys), *keys, *arguments)

        async def once() -> list[Any]:
            try:
                return await self._execute(*called)  # type: ignore[no-any-return]
            except NoScriptError:
                await self._execute("SCRIPT", "LOAD", script.text)
                return await self._execute(*called)  # type: ignore[no-any-return]

        return await self._repeated(once)  # type: ignore[no-any-return]

    async def command(self, *command: Argument) -> Any:  # noqa: ANN401 (each command answers its own)
        """Send a command that may be sent twice."""
        return await self._repeated(lambda: self._execute(*command))

    async def _execute(self, *command: Argument) -> Any:  # noqa: ANN401
        connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
        try:
            await connection.send_command(*command)
            return await connection.read_response()
        finally:
            await self._pool.release(connection)

    async def _repeated(self, once: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401
        loop = asyncio.get_running_loop()
        deadline = loop.time() + CALL_TIMEOUT
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await once()
            except FAILURES as error:
                failure = unavailable(error, self._url)
                if not may_pass(error):
                    refused = None if self.checked else unusable(error, self._url)
                    raise (refused or failure) from None
            pause = random.uniform(*PAUSE)
            if loop.time() + pause >= deadline:
                raise failure
            await asyncio.sleep(pause)
