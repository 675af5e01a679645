"""The end of a process: running turns get their time, then are parked for the next process."""

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest

from bot import speech
from bot.endings import Ending
from bot.responders import Turn
from tests.unit.fake_process import Script, hurry, running
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import BO, Discord, message
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def echo(turn: Turn) -> AsyncGenerator[str, None]:
    """Say what was asked, in two halves."""
    yield f"you said {turn.text}"
    yield ", I heard"


async def half(turn: Turn) -> AsyncGenerator[str, None]:
    """Say the first half and hang."""
    yield f"you said {turn.text}"
    await asyncio.Event().wait()


async def test_a_turn_that_ends_in_time_is_finished_and_no_other_begun() -> None:
    """What waits stays in the inbox, for the next process to find at once."""
    released = asyncio.Event()

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield turn.text
        await released.wait()

    async with running(Script(respond)) as bot:
        await bot.hears(first := message("1"))
        await bot.hears(second := message("2", BO))
        draining = asyncio.create_task(bot.conversations.drain(5))
        await asyncio.sleep(0.02)
        assert not draining.done()
        released.set()
        await draining
        assert bot.store.endings == [(first.id, "answered")]
        view = await bot.store.port.view(second.conversation)
        assert [inbound.id for inbound in view.waiting] == [second.id]
        assert view.wake is not None
        assert view.wake <= 0


async def test_a_turn_that_does_not_is_parked_where_it_stands_and_goes_on_elsewhere() -> None:
    """Its half-written reply is edited on by the next process, in the same message."""
    store, discord = Store(), Discord()
    async with running(Script(half), store=store, discord=discord) as bot:
        await bot.hears(asked := message("a"))
        await wait_until(discord.visible, description="half of it is there")
        await bot.conversations.drain(0.01)
        assert len(bot.locks) == 0
    assert discord.visible() == ["you said a"]
    assert store.ended(asked) == []
    async with running(Script(echo), store=store.another(), discord=discord) as bot:
        await bot.wakes.sweep()  # no lease has to end first
        await bot.settles()
    assert discord.visible() == ["you said a, I heard"]
    assert store.ended(asked) == ["answered"]


async def test_a_drain_ends_although_a_responder_resists() -> None:
    """It is left behind, its turn parked like any other."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield turn.text
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    released, begun = asyncio.Event(), time.monotonic()
    async with running(Script(respond)) as bot:
        await bot.hears(message("a"))
        await wait_until(bot.discord.visible, description="it has begun")
        await bot.conversations.drain(0.01)
        assert "park" in bot.store.steps
    assert time.monotonic() - begun < 2.0
    released.set()
    await wait_until(lambda: not speech.stragglers, description="it has ended")


async def test_a_drain_ends_although_the_store_is_gone() -> None:
    """Nobody can be told that the turn is parked; its lease ends by itself."""
    async with running(Script(half)) as bot:
        await bot.hears(message("a"))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.store.down = True
        begun = time.monotonic()
        await bot.conversations.drain(0.01)
        assert time.monotonic() - begun < 1.0
        assert not bot.conversations._tasks


async def test_what_was_admitted_while_draining_began_is_parked_too() -> None:
    """The store had granted the lease; its answer came when nothing was to begin any more."""
    async with running(Script(half)) as bot:
        answered = asyncio.Event()

        def hold(_number: int, name: str) -> None:
            if name == "admit":
                bot.store.answering = answered

        bot.store.plan = hold
        hearing = asyncio.create_task(bot.hears(asked := message("a")))
        await wait_until(lambda: "admit" in bot.store.steps, description="it is being admitted")
        await asyncio.sleep(0)
        await bot.conversations.drain(0)
        bot.store.answering = None
        answered.set()
        await hearing
        await bot.settles()
        assert "park" in bot.store.steps
        assert bot.store.ended(asked) == []
        assert bot.discord.asked("create") == []


async def test_what_is_heard_while_draining_waits_for_the_next_process() -> None:
    """It is admitted, since Discord tells it only once, and not begun."""
    async with running(Script(echo)) as bot:
        await bot.conversations.drain(0)
        await bot.hears(asked := message("a"))
        await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.requests == []
        view = await bot.store.port.view(asked.conversation)
        assert [inbound.id for inbound in view.waiting] == [asked.id]


async def test_a_follow_up_while_draining_is_left_to_the_next_process() -> None:
    """The turn is parked with its request, and superseded by whoever takes it up."""
    store, discord = Store(), Discord()
    async with running(Script(half), store=store, discord=discord) as bot:
        await bot.hears(first := message("a", age=1))
        await wait_until(discord.visible, description="half of it is there")
        draining = asyncio.create_task(bot.conversations.drain(5))
        await asyncio.sleep(0)
        await bot.hears(second := message("b"))
        await draining
        assert store.endings == []
    async with running(Script(echo), store=store.another(), discord=discord) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    assert store.endings == [(first.id, "superseded"), (second.id, "answered")]
    assert discord.visible() == ["you said a\n-# ⤵ going on below", "you said b, I heard"]


@pytest.mark.parametrize("trouble", [Trouble.REFUSED, Trouble.LOST])
async def test_parking_is_repeated_until_the_store_answers(trouble: Trouble) -> None:
    """A moment's outage must not cost the next process a lease's life."""
    async with running(Script(half)) as bot:
        await bot.hears(message("a"))
        await wait_until(bot.discord.visible, description="it has begun")
        troubles = iter([trouble])
        bot.store.plan = lambda _number, name: next(troubles, None) if name == "park" else None
        await bot.conversations.drain(0)
        (record,) = bot.store.database.records.values()
        assert record.token is None
        assert record.turn is not None


async def test_parking_says_nothing_and_marks_nothing() -> None:
    """People need not know that a process was replaced."""
    async with running(Script(half)) as bot:
        await bot.hears(message("a"))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.locks.cancel_all(Ending.PARKED)
        await bot.settles()
        assert bot.discord.messages[0].texts == ["you said a"]
        assert bot.discord.added == {}
