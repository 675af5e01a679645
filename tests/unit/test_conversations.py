"""The conversations of one process: turn after turn, whatever one of them does, until the drain."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import texts
from bot.inbound import Message
from bot.responders import Turn
from state.ports import MAX_EXPIRIES
from state.values import Could, Inbound, Policy
from tests.unit.fake_process import Script, hurry, running, script
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import ADA, BO, CY, message
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def echo(turn: Turn) -> AsyncGenerator[str, None]:
    """Say what was asked."""
    yield turn.text


async def slow(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin, and go on for ever."""
    yield f"{turn.text}: "
    for number in range(10_000):
        yield f"{number} "
        await asyncio.sleep(0.005)


# --------------------------------------------------------------------------------- turn after turn


async def test_turns_of_one_conversation_follow_each_other_in_order() -> None:
    """One speaker at a time: each waits for the one before, and none is left out."""
    speaking = 0

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        nonlocal speaking
        speaking += 1
        assert speaking == 1
        yield turn.text
        await asyncio.sleep(0.005)
        speaking -= 1

    async with running(Script(respond)) as bot:
        asked = [message(name, author) for name, author in (("1", ADA), ("2", BO), ("3", CY))]
        for one in asked:
            await bot.hears(one)
        await bot.settles()
        assert bot.discord.visible() == ["1", "2", "3"]
        assert bot.store.endings == [(one.id, "answered") for one in asked]


async def test_two_conversations_do_not_wait_for_each_other() -> None:
    """A mute provider in one channel leaves the others alone."""
    async with running(Script(slow)) as bot:
        for channel in ("1", "2"):
            await bot.hears(message(channel=channel))
        await wait_until(
            lambda: bot.discord.visible("1") and bot.discord.visible("2"),
            description="both are being answered",
        )
        assert len(bot.locks) == 2


@pytest.mark.parametrize("error", [ValueError("a bug"), KeyError(3)])
async def test_a_failing_turn_does_not_keep_the_next_one_from_beginning(error: Exception) -> None:
    """Its person gets an apology, the next one an answer."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        if turn.text == "bad":
            raise error
        yield turn.text

    async with running(Script(respond)) as bot:
        for one in (bad := message("bad"), good := message("good", BO)):
            await bot.hears(one)
        await bot.settles()
        assert bot.discord.replies(bad) == [texts.here().apology]
        assert bot.discord.replies(good) == ["good"]
        assert bot.store.endings == [(bad.id, "dead-lettered"), (good.id, "answered")]


async def put_unreadable(store: Store) -> Message:
    """Let something wait that this build cannot read."""
    odd = message("odd")
    await store.port.admit(
        odd.conversation,
        Inbound(odd.id, odd.author.id, b"?"),
        Could(trigger=True),
        Policy(),
        op="odd",
        claim=None,
    )
    return odd


async def test_an_inbound_that_cannot_be_read_is_set_aside() -> None:
    """Its conversation goes on; the operator finds it among the dead letters."""
    store = Store()
    odd = await put_unreadable(store)
    async with running(Script(echo), store=store) as bot:
        await bot.hears(good := message("good", BO))
        await bot.settles()
        assert bot.discord.visible() == ["good"]
        assert store.endings == [(odd.id, "dead-lettered"), (good.id, "answered")]


@pytest.mark.parametrize("trouble", list(Trouble))
async def test_trouble_while_setting_aside_loses_nothing(trouble: Trouble) -> None:
    """It is repeated, or done by the next holder."""
    store = Store()
    odd = await put_unreadable(store)
    troubles = iter([trouble])
    store.plan = lambda _number, name: next(troubles, None) if name == "fail" else None
    async with running(Script(echo), store=store) as bot:
        await bot.hears(good := message("good", BO))
        await bot.settles()
        store.clock.now += 16
        await bot.wakes.sweep()
        await bot.settles()
        assert store.endings == [(odd.id, "dead-lettered"), (good.id, "answered")]


async def test_a_bug_of_ours_breaks_one_turn_off_and_no_conversation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is logged and left to its lease; after too many expiries the person is told."""

    def find(name: str) -> Script:
        raise ZeroDivisionError(f"while looking for {name}")

    async with running(script("never")) as bot:
        bot.conversations.equip(lambda asked: replace(bot.tools(asked), responder=find))
        await bot.hears(asked := message())
        for _ in range(MAX_EXPIRIES):
            await bot.settles()
            assert bot.store.ended(asked) == []
            bot.store.clock.now += 16
            await bot.wakes.sweep()
        await wait_until(lambda: bot.discord.replies(asked), description="the person is told")
        assert bot.discord.replies(asked) == [texts.here().apology]
        assert bot.store.ended(asked) == ["dead-lettered"]
    assert "while looking for Script" in capsys.readouterr().out


@pytest.mark.parametrize("steps", range(0, 60, 3))
async def test_a_conversation_that_is_cancelled_leaves_no_task(steps: int) -> None:
    """Wherever it is at; the turn is left to the next holder, who goes on with it."""
    async with running(Script(echo)) as bot:
        await bot.hears(asked := message("hello"))
        for _ in range(steps):
            await asyncio.sleep(0)
        for task in bot.conversations._tasks:
            task.cancel()
        await bot.settles()
        assert asyncio.all_tasks() - bot.notices._tasks == {asyncio.current_task()}
        bot.store.clock.now += 16
        await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.replies(asked) == ["hello"]
        assert bot.store.ended(asked) == ["answered"]
