"""One run of a responder: how it ends by itself, and what it may take."""

import asyncio
from collections.abc import AsyncGenerator
from typing import cast

import pytest

from bot.endings import Ending
from bot.errors import TurnTimedOut
from bot.responders import Turn
from bot.speaking import NotSpeaking
from bot.speech import Limits, Spoken
from state.errors import Gone, LeaseLost, StateUnavailable
from tests.unit.fake_process import Respond
from tests.unit.fake_run import Run, mute, one_chunk, one_word_then_mute

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
async def test_a_chunk_that_is_no_part_of_a_reply_fails_the_turn(chunk: object) -> None:
    """The error names the class, what it yielded and what it may yield."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield cast("str", chunk)

    run = Run(respond)
    spoken = await run.spoken()
    assert spoken.ending is Ending.FAILED
    assert str(spoken.error) == (
        f"Script.respond: yielded {type(chunk).__name__}; "
        "it may yield str, Status, Embed, File and Buttons"
    )
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
        for _ in range(40):
            await asyncio.sleep(0.01)
            turn.progress()
        yield "done"

    run = Run(respond, limits=Limits(0.3, 0.3, 5.0))
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


async def test_waiting_for_discord_is_no_silence_of_a_responder_that_has_said_all() -> None:
    """B68: a network that is down at the final send costs time, and no reply."""

    async def land() -> None:
        await asyncio.sleep(0.1)

    limits = Limits(first_chunk=5.0, progress=0.02, turn=5.0)
    run = Run(one_chunk, limits=limits, land=land)
    assert await run.spoken() == Spoken(Ending.FINISHED)
    assert run.landed == 1


async def test_a_landing_that_never_ends_is_bounded_by_the_turn() -> None:
    """Discord does not keep a conversation busy for good."""

    async def land() -> None:
        await asyncio.Event().wait()

    limits = Limits(first_chunk=5.0, progress=0.02, turn=0.1)
    spoken = await Run(one_chunk, limits=limits, land=land).spoken()
    assert (spoken.ending, str(spoken.error)) == (
        Ending.FAILED,
        "the turn exceeded limits.turn",
    )
