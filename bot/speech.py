"""
One run of a responder: advanced and closed in a task of its own, watched from outside.

The watcher is never cancelled for the turn's sake, only the speaking child: a kill that lands
after the last word must not take down whoever gives the lease back.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Self

import structlog

from bot.endings import END_WITHIN, Ending
from bot.errors import PieceInvalid, TurnTimedOut
from bot.locks import Holding
from bot.replies import Chunk
from bot.responders import Responder, Turn
from bot.speaking import LEASE_GONE

#: Characters that are split into pages at once: some 30 ms of work.
PIECE = 65_536

FAILED_WHILE_ENDING = "responder failed while ending"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a turn may take, in seconds."""

    first_chunk: float
    progress: float
    turn: float


@dataclass(frozen=True, slots=True)
class Spoken:
    """How a run ended, and by which error if it failed."""

    ending: Ending
    error: BaseException | None = None


class Speech:
    """
    One run of one responder; at the end of its block nothing of it is waited for any more.

    The block may go on beside the clean-up of a responder that was ended.
    """

    def __init__(self, turn: Turn, responder: Responder, holding: Holding, limits: Limits) -> None:
        """Prepare; `run` does it."""
        self._turn = turn
        self._responder = responder
        self._holding = holding
        self._limits = limits
        self._spoke = False
        self._landing = False
        self._over = False
        self._child: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin the block."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """
        Wait for the responder's clean-up, `END_WITHIN` from when it was ended; leave it then.

        When we are ourselves cancelled, so is the child.
        """
        child = self._child
        if child is None or child.done():
            return
        if not self._over:
            self._end(child)
        await _leave(child, self._ended + END_WITHIN - time.monotonic())

    async def run(
        self, take: Callable[[Chunk], Awaitable[None]], land: Callable[[], Awaitable[None]]
    ) -> Spoken:
        """
        Hand each chunk to *take*, then await *land*; return when it is over, whatever happened.

        The first of these ends it: the child's own end, a reason to cancel, a limit. A child that
        was ended hands nothing more to *take*, but may still be at its clean-up.
        """
        child = self._child = asyncio.create_task(
            self._speak(take, land), name=f"speech {self._holding.lease.turn}"
        )
        spoken = await self._watch(child)
        self._turn.ending = spoken.ending
        self._end(child)
        return self._settle(child, spoken)

    def _end(self, child: "asyncio.Task[None]") -> None:
        """Listen no more; let it clean up what it has begun."""
        self._over, self._ended = True, time.monotonic()
        child.cancel()

    async def _speak(
        self, take: Callable[[Chunk], Awaitable[None]], land: Callable[[], Awaitable[None]]
    ) -> None:
        try:
            async with aclosing(self._responder.respond(self._turn)) as chunks:
                async for chunk in chunks:
                    if self._over:  # it caught its cancellation and goes on: nobody listens
                        return
                    self._spoke = True
                    self._holding.progress()
                    for piece in pieces(_checked(chunk)):
                        await take(piece)
                        # A responder that never waits must not keep the heartbeat from beating.
                        await asyncio.sleep(0)
        except PieceInvalid as error:
            raise PieceInvalid(f"{type(self._responder).__name__}.respond: {error}") from error
        except (SystemExit, KeyboardInterrupt) as error:
            # asyncio would end the process for it, and with it the replies of everybody else. A
            # real Ctrl-C is a signal to the loop, and raises nothing here.
            raise RuntimeError(f"the responder raised {type(error).__name__}") from error
        if not self._over:
            self._landing = True
            await land()

    async def _watch(self, child: "asyncio.Task[None]") -> Spoken:
        while True:
            _, at = self._nearest_limit()
            now = time.monotonic()
            # The first chunk puts another limit in force, hit no sooner than `progress` later.
            wait = max(0.0, min(at - now, self._holding.deadline - now, self._limits.progress))
            ends: set[asyncio.Future[Any]] = {child, self._holding.cancelled}
            await asyncio.wait(ends, timeout=wait, return_when="FIRST_COMPLETED")
            if not self._holding.may_speak:
                self._holding.cancel(Ending.LOST)
            if self._holding.reason is not None:
                return Spoken(self._holding.reason)
            if child.done():
                return Spoken(Ending.FINISHED)
            limit, at = self._nearest_limit()
            if time.monotonic() >= at:
                return Spoken(Ending.FAILED, TurnTimedOut(f"the turn exceeded limits.{limit}"))

    def _nearest_limit(self) -> tuple[str, float]:
        """The limit that is hit first if nothing more happens, and when (local monotonic)."""
        holding, limits = self._holding, self._limits
        if self._landing:  # it has said all; waiting for Discord is no silence of its own
            return "turn", holding.begun + limits.turn
        silence = (
            ("progress", limits.progress) if self._spoke else ("first_chunk", limits.first_chunk)
        )
        return min(
            ("turn", holding.begun + limits.turn),
            (silence[0], holding.progressed + silence[1]),
            key=lambda limit: limit[1],
        )

    def _settle(self, child: "asyncio.Task[None]", spoken: Spoken) -> Spoken:
        """Combine why we ended it with how it took it."""
        error = child.exception() if child.done() and not child.cancelled() else None
        if isinstance(error, LEASE_GONE):
            self._holding.cancel(Ending.LOST)
            return Spoken(Ending.LOST, error)
        if spoken.ending is Ending.FINISHED and child.cancelled():
            # Cancelled by its own doing: a responder that lets CancelledError escape has failed.
            return Spoken(Ending.FAILED, RuntimeError("the responder cancelled itself"))
        if error is not None and spoken.ending in (Ending.FINISHED, Ending.FAILED):
            return Spoken(Ending.FAILED, spoken.error or error)
        if error is not None:
            log.warning(FAILED_WHILE_ENDING, exc_info=error)
        return spoken


def _checked(chunk: object) -> Chunk:
    if isinstance(chunk, Chunk):
        return chunk
    raise PieceInvalid(
        f"yielded {type(chunk).__name__}; it may yield str, Status, Embed, File and Buttons"
    )


def pieces(chunk: Chunk) -> Iterator[Chunk]:
    """Cut text so that splitting it into pages never holds the loop for long."""
    if not isinstance(chunk, str):
        yield chunk
        return
    for start in range(0, max(len(chunk), 1), PIECE):
        yield chunk[start : start + PIECE]


#: Tasks that outlived their cancellation; kept so that they are neither lost nor collected.
stragglers: set[asyncio.Task[None]] = set()


async def _leave(child: "asyncio.Task[None]", seconds: float) -> None:
    """Wait for the clean-up of a cancelled *child*; one that resists is cancelled anew and left."""
    try:
        await asyncio.wait({child}, timeout=max(0.0, seconds))
    finally:  # we may be cancelled ourselves while we wait
        if not child.done():
            log.error("a responder resists its cancellation", seconds=END_WITHIN)
            child.cancel()
            stragglers.add(child)
            child.add_done_callback(_let_go)
    if child.done() and not child.cancelled() and (error := child.exception()) is not None:
        log.warning(FAILED_WHILE_ENDING, exc_info=error)


def _let_go(straggler: "asyncio.Task[None]") -> None:
    stragglers.discard(straggler)
    error = None if straggler.cancelled() else straggler.exception()
    log.warning("a responder has given in to its cancellation", exc_info=error)
