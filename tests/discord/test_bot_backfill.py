"""What was written while nobody heard it is answered after the start, once and together."""

import asyncio
from pathlib import Path

import pytest

from bot.backfill import Backfill, CatchUp, Hear
from sandbox import Sandbox
from state import connect
from tests.discord.bots import Room, running
from tests.waiting import wait_until


async def test_a_followed_channel_is_caught_up_with_from_where_it_was_heard(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was said before it was followed is none of our business, nor is what was answered."""
    url, room = f"sqlite:{tmp_path / 'bot.db'}", Room(sandbox)
    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state):
        room.say("Bo", "count to 9 before all this", addressed=False)
        record = sandbox.interactions.use(
            channel_id=room.id, user_id=room.world.person("Ada").id, command="follow", options={}
        )
        await sandbox.interactions.outcome(record)
    await state.close()

    room.say("Cy", "count to 4", addressed=False)

    for _ in range(2):  # B59: a second start finds nothing to do
        state = connect(url)
        await state.open()
        async with running(sandbox, monkeypatch, state) as bot:
            await wait_until(lambda: "1 2 3 4" in room.replies(), description="caught up")
            await wait_until(lambda: not len(bot.locks), description="the turn is over")
        await state.close()
    assert len(room.replies()) == 2
    assert room.replies()[1] == "1 2 3 4"


async def test_what_was_missed_is_answered_although_a_later_message_came_before_it_was_read(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """READY takes seconds, and a live message that is answered meanwhile hides no older one."""
    world, url = sandbox.world, f"sqlite:{tmp_path / 'bot.db'}"
    bo = world.person("Bo").id
    channel = world.open_dm(bo).id

    def last() -> str:
        return world.messages(channel)[-1].content

    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state) as bot:
        world.say(channel, bo, "count to 2")
        await wait_until(lambda: last() == "1 2", description="an answer")
        await wait_until(lambda: str(channel) in bot.followed, description="the DM is known")
        await wait_until(lambda: not len(bot.locks), description="the turn is over")
    await state.close()

    world.say(channel, bo, "count to 3")

    read, may_read = Backfill.run, asyncio.Event()

    async def run_later(self: Backfill, hear: Hear, catch_up: CatchUp) -> None:
        await may_read.wait()
        await read(self, hear, catch_up)

    monkeypatch.setattr(Backfill, "run", run_later)
    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state) as bot:
        world.say(channel, bo, "count to 4")
        await wait_until(lambda: last() == "1 2 3 4", description="the live message is answered")
        await wait_until(lambda: not len(bot.locks), description="the turn is over")
        may_read.set()
        await wait_until(lambda: last() == "1 2 3", description="the missed one too")
    await state.close()
