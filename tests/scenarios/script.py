"""What the bot says in a scene: scripts bound to messages, and the responder that plays them."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, field

from bot import Turn

Script = Callable[[Turn], AsyncGenerator[str, None]]

#: The last word of an answer of so many seconds; its first is the question and a colon.
END = "end"


@dataclass(frozen=True, slots=True)
class LLM:
    """
    Stream for so many seconds, a word in each, as `q1: 1 2 3 end`; or say exactly that text.

    *after* so many seconds of thought.
    """

    says: float | str = 0
    after: float = 0

    async def __call__(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Speak."""
        await asyncio.sleep(self.after)
        if isinstance(self.says, str):
            yield self.says
            return
        yield f"{turn.text}: "
        for second in range(1, int(self.says) + 1):
            await asyncio.sleep(1)
            yield f"{second} "
        yield END


@dataclass(slots=True)
class Tools:
    """Call a tool so many times, *seconds* each, in one chain; then tell how often."""

    seconds: float
    times: int = 1
    begun: int = 0
    done: int = 0

    async def __call__(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Work, and speak at the end."""
        with turn.call_chain():
            for _ in range(self.times):
                await turn.step("tool", self._work)
        yield f"{turn.text}: worked {self.done} {END}"

    async def _work(self, key: str) -> str:
        self.begun += 1
        await asyncio.sleep(self.seconds)
        self.done += 1
        return key


async def mute(turn: Turn) -> AsyncGenerator[str, None]:
    """Wait for a model that never answers."""
    await asyncio.Event().wait()
    yield turn.text


async def broken(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin, and break off with an error that no retry mends."""
    yield f"{turn.text}: "
    await asyncio.sleep(1)
    raise RuntimeError(turn.text)


@dataclass(slots=True)
class Play:
    """The scripts of a scene by message, and what was played of them."""

    scripts: dict[int, Script] = field(default_factory=dict)
    #: Each run of a turn, in the order in which they began.
    runs: list[Turn] = field(default_factory=list)
    #: When each began, by the scene's monotonic clock.
    began: list[float] = field(default_factory=list)
    #: Runs that began while another of the same conversation was speaking: there must be none.
    overlaps: list[tuple[str, str]] = field(default_factory=list)
    speaking: dict[str, Turn] = field(default_factory=dict)

    @property
    def asked(self) -> list[str]:
        """What reached the responder, in order."""
        return [turn.text for turn in self.runs]

    async def run(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Play the script of the newest message."""
        here = turn.conversation
        before = self.speaking.get(here)
        if before is not None and before.ending is None:
            self.overlaps.append((before.text, turn.text))
        self.speaking[here] = turn
        self.runs.append(turn)
        self.began.append(time.monotonic())
        script = self.scripts.get(int(turn.messages[-1].id), LLM())
        try:
            async with aclosing(script(turn)) as words:
                async for word in words:
                    yield word
        finally:
            if self.speaking.get(here) is turn:
                del self.speaking[here]


#: The play of the scene whose bot is being loaded.
PLAY: ContextVar[Play] = ContextVar("PLAY")
