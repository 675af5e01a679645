"""Wait for something to become true, never for a length of time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar, overload

T = TypeVar("T")

# Seconds between two looks: short beside what a test takes, long beside what a look costs.
INTERVAL = 0.005

# Seconds until a wait has failed: far beyond what a busy machine needs; only a failure takes it.
PATIENCE = 20.0


@overload
async def wait_until(
    predicate: Callable[[], Awaitable[T]], *, timeout: float = PATIENCE, description: str
) -> T: ...
@overload
async def wait_until(
    predicate: Callable[[], T], *, timeout: float = PATIENCE, description: str
) -> T: ...
async def wait_until(
    predicate: Callable[[], object], *, timeout: float = PATIENCE, description: str
) -> object:
    """
    Return the predicate's first true answer.

    *predicate* is a function or a coroutine function; *timeout* is in seconds and bounds its own
    time too. Fails the test as "still waiting until <description>" when it runs out.
    """
    deadline = time.monotonic() + timeout
    answer: object = None
    try:
        async with asyncio.timeout(timeout):
            while True:
                given = predicate()
                answer = await given if isinstance(given, Awaitable) else given
                if answer:
                    return answer
                await asyncio.sleep(INTERVAL)
    except TimeoutError:
        if time.monotonic() < deadline:
            raise  # the predicate's own
        msg = f"still waiting until {description}; after {timeout:g} s the answer was {answer!r}"
        raise AssertionError(msg) from None
