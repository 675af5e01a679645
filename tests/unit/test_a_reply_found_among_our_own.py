"""A create whose answer was lost with its process is found; what is not it is left alone."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot.responders import Turn
from bot.speaking import Unreachable
from tests.unit.fake_process import DOOR_RULES, Process, Script, hurry, running
from tests.unit.fake_store import Store
from tests.unit.fakes import Discord, Fault, message
from tests.waiting import wait_until

THREADS = replace(DOOR_RULES, threads=True)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def beside(turn: Turn) -> AsyncGenerator[str, None]:
    """Say something beside the reply, and before it."""
    await turn.say("aside")
    yield "reply"


async def lose_and_crash(bot: Process, creates: int) -> None:
    """Let the process die while its next create, the last of so many, is answered."""
    created = bot.discord.asked
    await wait_until(lambda: len(created("create")) == creates, description="it is being sent")
    await bot.crash()
    bot.discord.knows_nonces = bot.discord.shows_nonces = False
    bot.store.clock.now += 16


def lost() -> Fault:
    """Make a create that is carried out, and whose answer never comes."""
    return Fault(Unreachable("lost"), lost=True, hold=asyncio.Event())


@pytest.mark.parametrize("said", [0, 1], ids=["the aside is lost", "the reply is lost"])
async def test_in_a_thread_a_reply_is_told_from_what_was_said_beside_it(said: int) -> None:
    """Nothing replies to the message above, and either may be the first one there."""
    store, discord, asked = Store(), Discord(), message("a")
    async with running(Script(beside), store=store, discord=discord, door_rules=THREADS) as bot:
        discord.faults["create"] += [*[Fault()] * said, lost()]
        await bot.hears(asked)
        await lose_and_crash(bot, said + 1)
    again = store.another()
    async with running(Script(beside), store=again, discord=discord, door_rules=THREADS) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    assert discord.visible(asked.id) == ["aside", "reply"]


async def test_what_was_said_beside_a_reply_is_not_taken_for_a_page_of_it() -> None:
    """Also where both say the same, and where nothing tells a page but what it says."""

    async def twice(turn: Turn) -> AsyncGenerator[str, None]:
        await turn.say("the same")
        yield "the same"

    store, discord, asked = Store(), Discord(), message("a")
    async with running(Script(twice), store=store, discord=discord, door_rules=THREADS) as bot:
        discord.faults["create"] += [Fault(), replace(lost(), lost=False)]
        await bot.hears(asked)
        await lose_and_crash(bot, 2)
    again = store.another()
    async with running(Script(twice), store=again, discord=discord, door_rules=THREADS) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    assert discord.visible(asked.id) == ["the same", "the same"]
