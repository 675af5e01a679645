"""Ten thousand messages at once in one channel: bounded, told of once, and no harm to others."""

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest

from bot import texts
from bot.inbound import Person
from bot.responders import Turn
from tests.unit.fake_process import Script, hurry, running
from tests.unit.fakes import message
from tests.waiting import wait_until

MESSAGES, PEOPLE = 10_000, 1_000

#: Somebody else's direct messages.
DIRECT = "909"


async def respond(turn: Turn) -> AsyncGenerator[str, None]:
    """Answer those who write directly; leave the channel busy."""
    if turn.guild is not None:
        yield "one moment"
        await asyncio.Event().wait()
    yield f"to {turn.text}"


async def test_a_flood_in_one_channel_is_refused_with_one_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The inbox holds its twenty, and a direct message is answered while the others come."""
    hurry(monkeypatch)
    monkeypatch.setattr("bot.notices.NOTICE_LIFE", 60.0)
    monkeypatch.setattr("bot.notices.WAIT_SHOWN_AFTER", 60.0)
    async with running(Script(respond)) as bot:
        people = [Person(str(5000 + number), "Crowd") for number in range(PEOPLE)]
        flood = [
            asyncio.create_task(bot.hears(message(f"{number}", people[number % PEOPLE])))
            for number in range(MESSAGES)
        ]
        begun = time.monotonic()
        await bot.hears(asked := message("hello?", channel=DIRECT, guild=None))
        await wait_until(lambda: bot.discord.replies(asked) == ["to hello?"], description="a reply")
        answered = time.monotonic() - begun
        assert not all(task.done() for task in flood)
        await asyncio.gather(*flood)

        assert answered < 5.0
        assert len(bot.conversations._tasks) == len(bot.locks) == 1
        (record,) = [r for r in bot.store.database.records.values() if r.turn]
        assert len(record.inbox) == 20
        assert len(bot.notices._marks) == 20
        assert len(bot.door._gate) == 0
        # First the inbox is full, then the day's turns of the guild are used up: one notice.
        (reply, notice) = bot.discord.visible()
        assert reply == "one moment"
        assert notice in (texts.here().inbox_full, texts.here().owner_rate)
        assert len(bot.discord.asked("create")) < 10
