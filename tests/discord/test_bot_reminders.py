"""/remind and /reminders: kept in the store, said once, and only to whom they belong."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot import wakes
from bot.client import Interlock
from bot.inbound import conversation_of
from cogs.reminders import MOST
from sandbox import Sandbox
from sandbox.faults import Fault
from state import State
from state.errors import LeaseLost
from state.memory import Database, MemoryState
from tests.discord.bots import Room, running
from tests.discord.commanding import direct, privately, use
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakes, "EVERY", 0.02)


class Later:
    """A store in memory whose clock a test moves, as processes one after the other open it."""

    def __init__(self) -> None:
        self.database = Database()
        self.now = 1_800_000_000.0

    def state(self) -> State:
        """Open a handle."""
        return MemoryState(self.database, lambda: self.now)


@asynccontextmanager
async def reminding(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, later: Later
) -> AsyncIterator[Interlock]:
    """Run the bot with the cog."""
    extensions = ("cogs.demo", "cogs.reminders")
    state = later.state()
    await state.open()
    async with running(sandbox, monkeypatch, state, extensions=extensions) as bot:
        yield bot


async def test_a_reminder_survives_a_restart_and_notifies_its_person_once(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set under one process, said by the next, with nobody else pinged by its text."""
    later, room = Later(), Room(sandbox)
    bo = room.world.person("Bo").id
    async with reminding(sandbox, monkeypatch, later):
        told = await privately(room, "Ada", "remind", when="in 2 hours", what=f"ask <@{bo}>")
        assert re.fullmatch(r"I will remind you <t:\d+:R> here\. Its code is `\w{4}`\.", told)
    later.now += 7201
    async with reminding(sandbox, monkeypatch, later) as bot:
        await wait_until(room.own, description="the reminder")
        await bot.conversations.idle()
        [said] = room.own()
        ada = room.world.person("Ada").id
        assert said.content == f"⏰ <@{ada}> ask <@{bo}>"
        assert set(said.ping_user_ids) == {ada}
        assert await privately(room, "Ada", "reminders") == "You have no reminders here."
        await bot.wakes.sweep()
        await bot.conversations.idle()
    assert len(room.own()) == 1


async def test_a_reminder_that_was_said_but_not_noted_is_not_said_again(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies in between; the next one sends the same message under the same nonce."""
    later, room = Later(), Room(sandbox)
    async with reminding(sandbox, monkeypatch, later) as bot:
        await use(room, "Ada", "remind", when="1h", what="tea")
        told = asyncio.Event()

        async def lost(*_: object, **__: object) -> bytes:
            told.set()
            raise LeaseLost("the process dies here")

        monkeypatch.setattr(bot.state, "record", lost)
        later.now += 3601
        await told.wait()
        await bot.conversations.idle()
        monkeypatch.undo()
    assert len(room.own()) == 1
    later.now += 60
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wakes, "EVERY", 0.02)
        async with reminding(sandbox, patch, later) as bot:
            path = f"/channels/{room.id}/messages"
            await wait_until(
                lambda: len(room.requests("POST", path)) == 2, description="it is sent again"
            )
            await bot.conversations.idle()
            guild = room.world.find_channel(room.id).guild_id
            where = conversation_of(str(room.id), str(guild), "")
            assert (await bot.state.view(where)).turn is None
            assert (await bot.state.dead_letters(None)).letters == ()
    assert len(room.own()) == 1


async def test_reminders_are_listed_soonest_first_and_cancelled_by_their_code(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sees and cancels their own alone."""
    async with reminding(sandbox, monkeypatch, later := Later()) as bot:
        room = Room(sandbox)
        await use(room, "Ada", "remind", when="3h", what="third *thing*")
        await use(room, "Ada", "remind", when="1h", what="first " + "x" * 100)
        await use(room, "Bo", "remind", when="2h", what="not yours")
        first, third = (await privately(room, "Ada", "reminders")).splitlines()
        assert re.fullmatch(r"`\w{4}` <t:\d+:R> in <#\d+>: first x{14}…", first)
        assert third.endswith(r": third \*thing\*")
        code = first[1:5]
        assert "no reminder with the code" in await privately(room, "Bo", "reminders", cancel=code)
        told = await privately(room, "Ada", "reminders", cancel=code.upper())
        assert told.startswith("Cancelled: first")
        assert await privately(room, "Ada", "reminders") == third
        later.now += 3601
        await bot.wakes.sweep()
        await bot.conversations.idle()
        assert room.own() == []


async def test_a_reminder_in_direct_messages_comes_there(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is not listed elsewhere."""
    async with reminding(sandbox, monkeypatch, later := Later()):
        room = direct(sandbox, "Bo")
        await use(room, "Bo", "remind", when="10m", what="tea")
        assert await privately(Room(sandbox), "Bo", "reminders") == "You have no reminders here."
        later.now += 601
        await wait_until(room.own, description="the reminder")
        assert room.replies() == [f"⏰ <@{room.world.person('Bo').id}> tea"]


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("soon", "I do not understand that time. Write `10m`, `in 2 hours`"),
        ("2020-01-01", "That time has passed."),
        ("9999d", "That is over a year away."),
    ],
)
async def test_a_time_that_makes_no_sense_is_refused(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, when: str, told: str
) -> None:
    """With what would be right, and nothing is kept."""
    async with reminding(sandbox, monkeypatch, Later()):
        room = Room(sandbox)
        assert (await privately(room, "Ada", "remind", when=when, what="x")).startswith(told)
        assert await privately(room, "Ada", "reminders") == "You have no reminders here."


async def test_one_person_has_only_so_many(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a full list fits one message."""
    async with reminding(sandbox, monkeypatch, Later()):
        room = Room(sandbox)
        for number in range(MOST):
            await use(room, "Ada", "remind", when=f"{number + 1}h", what="_" * 500)
        refused = await privately(room, "Ada", "remind", when="1h", what="one more")
        assert refused == f"You have {MOST} reminders already; cancel one by /reminders."
        listed = await privately(room, "Ada", "reminders")
        assert len(listed.splitlines()) == MOST
        assert "I will remind you" in await privately(room, "Bo", "remind", when="1h", what="x")


async def test_a_reminder_for_a_channel_that_is_closed_is_let_go(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No retry, no dead letter: nobody can be told there."""
    async with reminding(sandbox, monkeypatch, later := Later()) as bot:
        room = Room(sandbox)
        await use(room, "Ada", "remind", when="1h", what="x")
        sandbox.faults.add(Fault("POST", "/channels/*/messages", status=403, code=50013))
        later.now += 3601
        await wait_until(
            lambda: room.requests("POST", f"/channels/{room.id}/messages"), description="a try"
        )
        await bot.conversations.idle()
        assert (await bot.state.dead_letters(None)).letters == ()
        assert len(room.requests("POST", f"/channels/{room.id}/messages")) == 1
