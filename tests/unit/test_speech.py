"""One run of a responder: how it ends, by itself and from outside, and what its code sees of it."""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import cast

import pytest

from bot import speech as module
from bot.endings import Ending
from bot.errors import TurnTimedOut
from bot.journal import Journal
from bot.locks import Holding
from bot.responders import Turn
from bot.speaking import NotSpeaking
from bot.speech import Limits, Speech, Spoken
from state.errors import Gone, LeaseLost, StateUnavailable
from state.outcomes import Started
from state.values import Lease
from tests.unit.fake_process import Respond, Script
from tests.unit.fakes import message
from tests.waiting import wait_until

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
    ) -> None:
        asked = message()
        held = Lease(asked.conversation, asked.id, "1-a", 0)
        self.holding = Holding(Started(held, (asked.inbound(),)), time.monotonic(), lease)
        self.turn = Turn(
            [asked],
            attempt=1,
            journal=cast("Journal", None),  # these responders take no steps
            pulse=self.holding,
            history=lambda _limit: asyncio.sleep(0, []),
        )
        self.written: list[str] = []
        self.landed = 0
        self._land = land
        speech = Speech(self.turn, Script(respond), self.holding, limits)
        self.task = asyncio.create_task(speech.run(self.written.append, self._landing))

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


async def mute(turn: Turn) -> AsyncGenerator[str, None]:
    """Never answer, as a provider that hangs."""
    await asyncio.Event().wait()
    yield "unreachable"


async def one_word_then_mute(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin to answer and hang."""
    yield "word"
    await asyncio.Event().wait()


# -------------------------------------------------------------------------------------- its own end


async def test_a_responder_that_ends_has_its_chunks_written_and_landed() -> None:
    """Chunks come in order, and the reply lands once, after the last of them."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for chunk in ("a", "b", "c"):
            yield chunk

    run = Run(respond)
    assert await run.spoken() == Spoken(Ending.FINISHED)
    assert (run.written, run.landed) == (["a", "b", "c"], 1)
    assert run.turn.ending is Ending.FINISHED


@pytest.mark.parametrize("error", [ValueError("bug"), BaseExceptionGroup("odd", [GeneratorExit()])])
async def test_a_responder_that_raises_has_failed_and_lands_nothing(error: BaseException) -> None:
    """What it raised is kept, whatever its base class; a failure is never taken for an answer."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a"
        raise error

    run = Run(respond)
    spoken = await run.spoken()
    assert spoken == Spoken(Ending.FAILED, error)
    assert run.landed == 0


@pytest.mark.parametrize("chunk", [None, b"bytes", 3, ["list"]])
async def test_a_chunk_that_is_no_text_fails_the_turn(chunk: object) -> None:
    """The error names the class, what it yielded and what it may yield."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield cast("str", chunk)

    run = Run(respond)
    spoken = await run.spoken()
    assert spoken.ending is Ending.FAILED
    expected = f"Script.respond yielded {type(chunk).__name__}; a responder yields str"
    assert isinstance(spoken.error, TypeError)
    assert str(spoken.error) == expected
    assert run.written == []


async def test_a_responder_that_is_no_generator_fails_the_turn() -> None:
    """A cog that was swapped at run time cannot take the process down."""
    run = Run(cast("Respond", lambda _turn: "text"))
    assert (await run.spoken()).ending is Ending.FAILED


async def test_a_responder_that_cancels_itself_has_failed() -> None:
    """A `CancelledError` that nobody asked for is not a stop."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a"
        raise asyncio.CancelledError

    run = Run(respond)
    spoken = await run.spoken()
    assert spoken.ending is Ending.FAILED
    assert "cancelled itself" in str(spoken.error)


async def test_a_failing_landing_fails_the_turn() -> None:
    """The responder has ended well, its reply has not."""

    async def land() -> None:
        raise ValueError("no right to send")

    run = Run(one_chunk, land=land)
    spoken = await run.spoken()
    assert spoken.ending is Ending.FAILED
    assert str(spoken.error) == "no right to send"


async def one_chunk(turn: Turn) -> AsyncGenerator[str, None]:
    """Say one thing."""
    yield "all"


@pytest.mark.parametrize(
    "error",
    [
        NotSpeaking(),
        LeaseLost("another holder"),
        StateUnavailable("gone for long"),
        Gone("being forgotten"),
    ],
)
@pytest.mark.parametrize("where", ["responder", "landing"])
async def test_a_turn_whose_lease_is_gone_is_lost_and_not_failed(
    where: str, error: Exception
) -> None:
    """The next holder goes on with it; nobody is told that something went wrong."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a"
        if where == "responder":
            raise error

    async def land() -> None:
        raise error

    run = Run(respond, land=land)
    assert await run.spoken() == Spoken(Ending.LOST, error)
    assert run.holding.reason is Ending.LOST


# ------------------------------------------------------------------------------ ended from outside


@pytest.mark.parametrize("reason", [ending for ending in Ending if ending is not Ending.FINISHED])
async def test_a_mute_responder_ends_at_once_for_any_reason(reason: Ending) -> None:
    """Its task is cancelled although the provider never answers."""
    run = Run(one_word_then_mute)
    await run.has_written()
    run.holding.cancel(reason)
    begun = time.monotonic()
    assert (await run.spoken()).ending is reason
    assert time.monotonic() - begun < 1.0
    assert run.landed == 0


async def test_a_reason_that_was_there_before_the_turn_ends_it() -> None:
    """A follow-up that arrived while nobody held the turn supersedes it at once."""
    run = Run(mute)
    run.holding.cancel(Ending.SUPERSEDED)
    assert await run.spoken() == Spoken(Ending.SUPERSEDED)


@pytest.mark.parametrize("reason", [ending for ending in Ending if ending is not Ending.FINISHED])
async def test_the_clean_up_of_a_responder_sees_how_it_ends(reason: Ending) -> None:
    """`turn.ending` is set before the generator is closed."""
    seen: list[Ending | None] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        try:
            yield "a"
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append(turn.ending)

    run = Run(respond)
    await run.has_written()
    run.holding.cancel(reason)
    await run.spoken()
    assert seen == [reason]


async def test_the_clean_up_of_a_responder_that_ends_by_itself_sees_no_ending() -> None:
    """Nothing has ended it: the reply has yet to land, and may still be stopped."""
    seen: list[Ending | None] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        try:
            yield "a"
        finally:
            seen.append(turn.ending)

    await Run(respond).spoken()
    assert seen == [None]


async def test_a_stop_while_the_reply_lands_cuts_the_landing() -> None:
    """Landing is part of speaking: a rate limit must not outlast a stop."""
    landing = asyncio.Event()

    async def land() -> None:
        landing.set()
        await asyncio.Event().wait()

    run = Run(one_chunk, land=land)
    await landing.wait()
    run.holding.cancel(Ending.STOPPED)
    assert await run.spoken() == Spoken(Ending.STOPPED)


async def test_a_kill_after_the_last_word_does_not_harm_the_one_who_gives_the_lease_back() -> None:
    """A reason that comes too late changes nothing, and cancels nobody."""
    run = Run(one_chunk)
    assert await run.spoken() == Spoken(Ending.FINISHED)
    run.holding.cancel(Ending.KILLED)
    await asyncio.sleep(0)
    assert run.turn.ending is Ending.FINISHED


async def test_an_error_while_ending_does_not_hide_the_ending() -> None:
    """A stop stays a stop when the responder's clean-up raises."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        try:
            yield "a"
            await asyncio.Event().wait()
        finally:
            raise ValueError("in clean-up")

    run = Run(respond)
    await run.has_written()
    run.holding.cancel(Ending.STOPPED)
    assert await run.spoken() == Spoken(Ending.STOPPED)


async def test_a_turn_ends_before_its_lease_does() -> None:
    """Nobody renews it: at the local deadline nothing more is said, without asking the store."""
    begun = time.monotonic()
    run = Run(one_word_then_mute, lease=0.1)
    assert await run.spoken() == Spoken(Ending.LOST)
    assert 0.07 < time.monotonic() - begun < 0.1 + 1.0
    assert run.holding.reason is Ending.LOST


async def test_a_renewed_lease_lets_the_turn_go_on() -> None:
    """The watcher looks at the deadline of now, not at the one of the start."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for _ in range(12):
            await asyncio.sleep(0.01)
            run.holding.prolong(time.monotonic(), 0.1)
            yield "a"

    run = Run(respond, lease=0.1)
    assert await run.spoken() == Spoken(Ending.FINISHED)


# ------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("respond", "limits", "named"),
    [
        (mute, Limits(0.02, 5.0, 5.0), "first_chunk"),
        (one_word_then_mute, Limits(5.0, 0.02, 5.0), "progress"),
        (one_word_then_mute, Limits(5.0, 5.0, 0.02), "turn"),
    ],
)
async def test_a_turn_over_a_limit_fails_naming_it(
    respond: Respond, limits: Limits, named: str
) -> None:
    """Silence before the first chunk, silence after it, and the whole turn are bounded."""
    spoken = await Run(respond, limits=limits).spoken()
    assert spoken.ending is Ending.FAILED
    assert isinstance(spoken.error, TurnTimedOut)
    assert str(spoken.error) == f"the turn exceeded limits.{named}"


async def test_progress_without_text_keeps_a_turn_alive() -> None:
    """A responder at work says so; only the limit of the whole turn stands above it."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for _ in range(20):
            await asyncio.sleep(0.01)
            turn.progress()
        yield "done"

    run = Run(respond, limits=Limits(0.08, 0.08, 5.0))
    assert await run.spoken() == Spoken(Ending.FINISHED)


async def test_a_responder_that_never_waits_lets_others_run() -> None:
    """The heartbeat must beat, and a stop be heard, between two chunks."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        while True:
            yield "a"

    run = Run(respond)
    await run.has_written()
    run.holding.cancel(Ending.STOPPED)
    assert await run.spoken() == Spoken(Ending.STOPPED)


# --------------------------------------------------------------------------------------- resistance


@pytest.fixture
def short_clean_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a clean-up have a twentieth of a second."""
    monkeypatch.setattr(module, "CLEAN_UP", 0.05)


async def test_a_clean_up_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a `finally` awaits is waited for, and the generator is closed."""
    monkeypatch.setattr(module, "CLEAN_UP", 5.0)
    cleaned = False

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        nonlocal cleaned
        try:
            yield "a"
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)
            cleaned = True

    run = Run(respond)
    await run.has_written()
    run.holding.cancel(Ending.KILLED)
    await run.spoken()
    assert cleaned


@pytest.mark.usefixtures("short_clean_up")
async def test_a_responder_that_goes_on_after_its_cancellation_is_not_heard() -> None:
    """One that catches the cancellation and yields is closed, and lands nothing."""
    closed = False

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        nonlocal closed
        yield "before"
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            try:
                yield "after"
            finally:
                closed = True

    run = Run(respond)
    await run.has_written()
    run.holding.cancel(Ending.STOPPED)
    assert await run.spoken() == Spoken(Ending.STOPPED)
    assert (run.written, run.landed, closed) == (["before"], 0, True)
    assert run.turn.ending is Ending.STOPPED


@pytest.mark.usefixtures("short_clean_up")
async def test_a_responder_that_swallows_its_cancellation_lands_nothing() -> None:
    """Coming to its end instead of being cancelled makes no answer of it."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "before"
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    run = Run(respond)
    await run.has_written()
    run.holding.cancel(Ending.KILLED)
    assert await run.spoken() == Spoken(Ending.KILLED)
    assert run.landed == 0


@pytest.fixture
async def straggler() -> AsyncIterator[Respond]:
    """Give a responder that resists until the test is over."""
    release = asyncio.Event()

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "before"
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        yield "after"
        raise ValueError("much later")

    yield respond
    release.set()
    await wait_until(lambda: not module.stragglers, description="the straggler has ended")
    gc.collect()  # an exception that nobody has looked at would be complained about here


@pytest.mark.usefixtures("short_clean_up")
@pytest.mark.parametrize("reason", [Ending.STOPPED, Ending.KILLED, Ending.LOST])
async def test_a_responder_that_resists_is_left_behind(straggler: Respond, reason: Ending) -> None:
    """The turn does not wait for it beyond its clean-up, and hears nothing of it afterwards."""
    run = Run(straggler)
    await run.has_written()
    run.holding.cancel(reason)
    begun = time.monotonic()
    assert (await run.spoken()).ending is reason
    assert time.monotonic() - begun < 0.05 + 1.0
    assert len(module.stragglers) == 1
    assert run.written == ["before"]


@pytest.mark.usefixtures("short_clean_up")
async def test_cancelling_the_runner_ends_its_responder_too() -> None:
    """At the end of a drain the runner itself is cancelled; nothing may go on speaking."""
    run = Run(one_word_then_mute)
    await run.has_written()
    run.task.cancel()
    await asyncio.wait({run.task})
    assert run.task.cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}
