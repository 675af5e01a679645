"""One run of a responder in a task of its own, watched by a test."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import cast

from bot import speech as module
from bot.journal import Journal
from bot.kept import Kept
from bot.locks import Holding
from bot.replies import Chunk
from bot.responders import Around, Say, Turn
from bot.speech import Limits, Speech, Spoken
from state.outcomes import Started
from state.values import Lease
from tests.unit.fake_process import Respond, Script
from tests.unit.fakes import message
from tests.waiting import wait_until


async def one_chunk(turn: Turn) -> AsyncGenerator[str, None]:
    """Say one thing."""
    yield "all"


async def mute(turn: Turn) -> AsyncGenerator[str, None]:
    """Never answer, as a provider that hangs."""
    await asyncio.Event().wait()
    yield "unreachable"


async def one_word_then_mute(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin to answer and hang."""
    yield "word"
    await asyncio.Event().wait()


LIMITS = Limits(first_chunk=5.0, progress=5.0, turn=5.0)


async def land_at_once() -> None:
    """Land a reply that takes no time to."""


class Run:
    """One run, started in a task of its own, and what came of it so far."""

    def __init__(
        self,
        respond: Respond,
        *,
        limits: Limits = LIMITS,
        lease: float = 15.0,
        land: Callable[[], Awaitable[None]] = land_at_once,
        beside: Callable[[], object] = lambda: None,
    ) -> None:
        asked = message()
        held = Lease(asked.conversation, asked.id, "1-a", 0)
        self.holding = Holding(Started(held, (asked.inbound(),)), time.monotonic(), lease)
        self.turn = Turn(
            [asked],
            attempt=1,
            journal=cast("Journal", None),  # these responders take no steps
            pulse=self.holding,
            around=cast("Around", None),  # nor look around
            kept=cast("Kept", None),  # nor keep anything
            say=cast("Say", None),  # nor say it beside their reply
        )
        self.written: list[Chunk] = []
        self.landed = 0
        self._land, self._beside = land, beside
        speech = Speech(self.turn, Script(respond), self.holding, limits)
        self.task = asyncio.create_task(self._run(speech))

    async def _run(self, speech: Speech) -> Spoken:
        async with speech:
            spoken = await speech.run(self._take, self._landing)
            self._beside()
        return spoken

    async def _take(self, chunk: Chunk) -> None:
        self.written.append(chunk)

    async def _landing(self) -> None:
        await self._land()
        self.landed += 1

    async def has_written(self) -> None:
        """Wait for the first chunk."""
        await wait_until(lambda: self.written, description="the first chunk is written")

    async def spoken(self) -> Spoken:
        """Answer how the run ended, and that nothing of it is left."""
        spoken = await asyncio.wait_for(self.task, 5)
        left = asyncio.all_tasks() - {asyncio.current_task()} - module.stragglers
        assert not left
        return spoken
