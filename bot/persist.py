"""Repeat a request to Discord whose outcome is unknown, for as long as the lease lives."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from bot.locks import Holding
from bot.speaking import NotSpeaking, Unreachable

Answer = TypeVar("Answer")

#: Seconds between two tries: doubled from the first to the last.
BACKOFF_FIRST, BACKOFF_LAST = 0.5, 8.0

log = structlog.get_logger(__name__)


async def persist(request: Callable[[], Awaitable[Answer]], holding: Holding, what: str) -> Answer:
    """Await *request* (for *what*, as the log says) until Discord answers it."""
    pause = BACKOFF_FIRST
    while True:
        try:
            return await request()
        except Unreachable as error:
            log.warning("discord unreachable, repeating", what=what, reason=str(error))
        if not holding.may_speak:
            raise NotSpeaking
        await asyncio.sleep(pause)
        pause = min(pause * 2, BACKOFF_LAST)
