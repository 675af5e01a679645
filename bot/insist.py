"""Repeat a step of the store until it answers, or until repeating could no longer be safe."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from state.errors import StateUnavailable

Answer = TypeVar("Answer")

#: Seconds after which a step is no longer repeated.
#: Relation: a third of `state.ports.OP_WINDOW`, within which a repeat gets the first answer.
REPEAT_FOR = 20.0

#: Seconds between two tries: short against a lease, long against a store that restarts.
PAUSE = 0.25

log = structlog.get_logger(__name__)


def new_op() -> str:
    """Draw an operation id: 128 random bits, chosen before the call so that repeats are one."""
    return secrets.token_hex(16)


async def insist(step: Callable[[], Awaitable[Answer]], *, seconds: float = REPEAT_FOR) -> Answer:
    """
    Await *step* (a call with a fixed operation id) again while the store is unavailable.

    Raise the last `StateUnavailable` after *seconds*; everything else at once.
    """
    give_up = time.monotonic() + seconds
    while True:
        try:
            return await step()
        except StateUnavailable as error:
            if time.monotonic() + PAUSE > give_up:
                raise
            log.warning("store unavailable, repeating", reason=str(error))
            await asyncio.sleep(PAUSE)
