"""Responders that do what none should: each has its ending, and the process goes on."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import replace
from typing import cast

import pytest

from bot import pace, texts
from bot.endings import Ending
from bot.inbound import Message
from bot.responders import Turn
from bot.speech import Limits
from tests.unit.fake_process import RULES, Process, Respond, Script, hurry, running
from tests.unit.fakes import ADA, BO, Discord, message
from tests.waiting import wait_until

#: What is asked first of a responder that misbehaves only then.
BAIT = "bait"

#: Characters that come in a chunk each: ten pages of them.
CHARACTERS = 20_000


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


def once(respond: Respond) -> Script:
    """Make a responder that does *respond* to the bait, and answers everything else."""

    async def either(turn: Turn) -> AsyncGenerator[str, None]:
        if turn.text == BAIT:
            async for chunk in respond(turn):
                yield cast("str", chunk)
        else:
            yield f"to {turn.text}"

    return Script(either)


async def baited(bot: Process) -> Message:
    """Ask for it, and let somebody else wait behind it, whom it may not harm."""
    await bot.hears(asked := message(BAIT, ADA, age=1))
    await bot.hears(waits := message("b", BO))
    await wait_until(lambda: bot.store.ended(waits), description="the next one is answered")
    await bot.settles()
    assert bot.discord.replies(waits) == ["to b"]
    return asked


def shown(discord: Discord, asked: Message) -> str:
    """Join what the reply says; the last message is to somebody else."""
    del asked
    return "".join(discord.visible()[:-1])


# ------------------------------------------------------------------------------------- much at once


async def test_a_megabyte_in_one_chunk_is_a_few_pages_and_a_file() -> None:
    """Nobody waits long behind it, and none of it is lost."""
    text = "".join(f"{number:07d} " for number in range(131_072))

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield text

    async with running(once(respond)) as bot:
        asked = await baited(bot)
        assert bot.store.ended(asked) == ["answered"]
        pages = [one for one in bot.discord.messages if one.text.startswith("0")]
        assert len(pages) <= RULES.max_pages
        (rest,) = [one.file for one in bot.discord.messages if one.file]
        words = " ".join(one.text for one in pages).split() + rest.decode().split()
        assert words == text.split()


async def test_a_flood_of_chunks_of_one_character_is_one_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their cost is that of their text, not of its square; a handful of edits shows them."""
    monkeypatch.setattr(pace, "CADENCE", 0.5)

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for number in range(CHARACTERS):
            yield "x" if number % 50 else "\n"

    async with running(once(respond), rules=_limits(turn=120.0), lease=120.0) as bot:
        asked = await baited(bot)
        assert bot.store.ended(asked) == ["answered"]
        (rest,) = [one.file for one in bot.discord.messages if one.file]
        there = shown(bot.discord, asked).count("x") + rest.count(b"x")
        assert there == CHARACTERS * 49 // 50
        assert len(bot.discord.requests) < 1000


# ----------------------------------------------------------------------------------- without an end


def _limits(*, turn: float) -> object:
    return replace(RULES, limits=Limits(first_chunk=5.0, progress=5.0, turn=turn))


async def _never_awaits(turn: Turn) -> AsyncGenerator[str, None]:
    while True:
        yield "word "


async def _never_ends(turn: Turn) -> AsyncGenerator[str, None]:
    while True:
        yield "word "
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("respond", [_never_awaits, _never_ends])
async def test_a_reply_without_end_is_cut_by_the_limit_of_a_turn(respond: Respond) -> None:
    """Others run beside one that never waits; it is marked as failed, and given up."""
    async with running(once(respond), rules=_limits(turn=0.3)) as bot:
        asked = await baited(bot)
        assert bot.store.ended(asked) == ["dead-lettered"]
        assert "word" in bot.discord.visible()[0]
        (letter,) = (await bot.store.port.dead_letters("guild/301")).letters
        assert letter.error == "TurnTimedOut: the turn exceeded limits.turn"


@pytest.mark.parametrize("respond", [_never_awaits, _never_ends])
async def test_a_reply_without_end_can_be_stopped(respond: Respond) -> None:
    """Between any two chunks somebody may be heard."""
    async with running(once(respond)) as bot:
        await bot.hears(asked := message(BAIT))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.locks.cancel(asked.id, Ending.STOPPED)
        await bot.settles()
        assert bot.store.ended(asked) == ["stopped"]


async def test_one_that_blocks_the_process_for_longer_than_its_lease_says_no_more() -> None:
    """Another process may speak by then; this one finds out without asking anybody."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "before"
        await wait_until(bot.discord.visible, description="the first word is there")
        time.sleep(0.5)  # noqa: ASYNC251 (as code that waits without letting others run)
        yield " after"

    async with running(Script(respond), lease=0.4) as bot:
        await bot.hears(asked := message(BAIT))
        await bot.settles()
        assert bot.discord.visible() == ["before"]
        assert bot.store.ended(asked) == []


# --------------------------------------------------------------------------- after its cancellation


async def test_what_is_yielded_after_a_cancellation_is_not_shown() -> None:
    """It is stopped where it was, whatever it says to that."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "before"
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        for _ in range(100):
            yield " after"

    async with running(once(respond)) as bot:
        await bot.hears(asked := message(BAIT))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.locks.cancel(asked.id, Ending.STOPPED)
        await bot.settles()
        assert bot.discord.visible() == [f"before{texts.here().mark(Ending.STOPPED)}"]
        assert bot.store.ended(asked) == ["stopped"]


# ----------------------------------------------------------------------------------- what it raises


def _recurse(depth: int = 0) -> int:
    return _recurse(depth + 1) + 1


def _raise(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


FAILURES = [
    pytest.param(_raise(ValueError("a bug")), "ValueError: a bug", id="an exception"),
    pytest.param(_raise(MemoryError()), "MemoryError: ", id="MemoryError"),
    pytest.param(_recurse, "RecursionError: ", id="recursion"),
    pytest.param(_raise(StopIteration()), "RuntimeError: ", id="StopIteration"),
    pytest.param(_raise(StopAsyncIteration()), "RuntimeError: ", id="StopAsyncIteration"),
    pytest.param(_raise(GeneratorExit()), "GeneratorExit: ", id="GeneratorExit"),
    pytest.param(
        _raise(asyncio.CancelledError()),
        "RuntimeError: the responder cancelled itself",
        id="CancelledError",
    ),
    pytest.param(
        _raise(SystemExit(1)), "RuntimeError: the responder raised SystemExit", id="SystemExit"
    ),
    pytest.param(
        _raise(KeyboardInterrupt()),
        "RuntimeError: the responder raised KeyboardInterrupt",
        id="KeyboardInterrupt",
    ),
]


@pytest.mark.parametrize(("fail", "told"), FAILURES)
@pytest.mark.parametrize("begun", [False, True], ids=["at once", "midway"])
async def test_whatever_a_responder_raises_costs_its_own_turn_alone(
    fail: Callable[[], None], told: str, *, begun: bool
) -> None:
    """Not the process, for `sys.exit` in a cog is a bug of that cog; people get one apology."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        if begun:
            yield "half an"
        fail()
        yield "never"

    async with running(Script(once(respond).respond)) as bot:
        asked = await baited(bot)
        assert bot.store.ended(asked) == ["dead-lettered"]
        mark = texts.here().mark(Ending.FAILED)
        assert bot.discord.replies(asked) == [f"half an{mark}" if begun else texts.here().apology]
        (letter,) = (await bot.store.port.dead_letters("guild/301")).letters
        assert letter.error.startswith(told)


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), ValueError("a bug")])
async def test_whatever_a_clean_up_raises_leaves_a_stop_a_stop(error: BaseException) -> None:
    """The person who asked for it is not told of a failure."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        try:
            yield "half an"
            await asyncio.Event().wait()
        finally:
            raise error

    async with running(once(respond)) as bot:
        await bot.hears(asked := message(BAIT))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.locks.cancel(asked.id, Ending.STOPPED)
        await bot.settles()
        assert bot.discord.visible() == [f"half an{texts.here().mark(Ending.STOPPED)}"]
        assert bot.store.ended(asked) == ["stopped"]


@pytest.mark.parametrize("chunk", [None, 3, b"bytes", ["list"], {"a": 1}, object()])
async def test_a_chunk_of_another_kind_costs_its_own_turn_alone(chunk: object) -> None:
    """What was said before stays, with a word of what happened."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "half an"
        yield cast("str", chunk)

    async with running(once(respond)) as bot:
        asked = await baited(bot)
        assert bot.store.ended(asked) == ["dead-lettered"]
        assert bot.discord.replies(asked) == [f"half an{texts.here().mark(Ending.FAILED)}"]
