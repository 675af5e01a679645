"""A responder that is ended from outside: at once, whatever it does, and heard of no more."""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from bot import speech as module
from bot.endings import Ending
from bot.responders import Turn
from bot.speech import Spoken
from tests.unit.fake_process import Respond
from tests.unit.fake_run import Run, mute, one_chunk, one_word_then_mute
from tests.waiting import wait_until

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
        for _ in range(40):
            await asyncio.sleep(0.01)
            run.holding.prolong(time.monotonic(), 0.3)
            yield "a"

    run = Run(respond, lease=0.3)
    assert await run.spoken() == Spoken(Ending.FINISHED)


async def test_who_has_run_it_may_go_on_beside_its_clean_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its end is known at once; only the end of its block waits for what a `finally` awaits."""
    monkeypatch.setattr(module, "END_WITHIN", 60.0)
    told = asyncio.Event()

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        try:
            yield "a"
            await asyncio.Event().wait()
        finally:
            await told.wait()

    run = Run(respond, beside=told.set)
    await run.has_written()
    run.holding.cancel(Ending.STOPPED)
    assert await run.spoken() == Spoken(Ending.STOPPED)


# --------------------------------------------------------------------------------------- resistance


@pytest.fixture
def short_clean_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a clean-up have a twentieth of a second."""
    monkeypatch.setattr(module, "END_WITHIN", 0.05)


async def test_a_clean_up_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a `finally` awaits is waited for, and the generator is closed."""
    monkeypatch.setattr(module, "END_WITHIN", 5.0)
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
