"""People who speak through a proxy: it takes their message back and says it under another name."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot.inbound import Attached, Message, Person
from bot.responders import Turn
from state.outcomes import Placed
from tests.unit.fake_process import HEARD, Process, Script, hurry, running
from tests.unit.fakes import ADA, BO, CY, message
from tests.waiting import wait_until

#: How the webhook of a proxy names the one it speaks for.
MASK = Person("9001", "Ada the Brave")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def echo(turn: Turn) -> AsyncGenerator[str, None]:
    """Say who asked what."""
    yield f"{turn.author.name}: {turn.text}"


async def think(turn: Turn) -> AsyncGenerator[str, None]:
    """Say nothing yet to what is still to be said again."""
    if turn.text.startswith("ada:"):
        await asyncio.Event().wait()
    yield f"{turn.author.name} ({turn.author.id}): {turn.text}"


async def hang(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin and go on for ever."""
    yield f"to {turn.text}"
    await asyncio.Event().wait()


async def said_again(bot: Process, text: str, **facts: bool) -> Message:
    """Let the proxy say it."""
    again = message(text, MASK)
    await bot.hears(again, proxied=True, **facts)
    return again


async def test_what_a_proxy_says_again_is_answered_once_and_credited() -> None:
    """The turn of the first wording makes room for the second; the deletion stops nothing."""
    async with running(Script(think), proxied=True) as bot:
        await bot.hears(first := message("ada: hello", ADA))
        again = await said_again(bot, "hello")
        await bot.door.deleted(first.channel, first.id)
        await bot.settles()
        assert bot.discord.visible() == [f"Ada the Brave ({ADA.id}): hello"]
        assert bot.discord.replies(again) == []


async def test_a_deletion_that_comes_before_the_repost_stops_nothing_either() -> None:
    """The two events have no order; the deletion waits a moment for the other."""
    async with running(Script(think), proxied=True) as bot:
        await bot.hears(first := message("ada: hello", ADA))
        deleting = asyncio.create_task(bot.door.deleted(first.channel, first.id))
        await said_again(bot, "hello")
        await deleting
        await bot.settles()
        assert bot.discord.visible() == [f"Ada the Brave ({ADA.id}): hello"]


async def test_a_deletion_without_a_repost_stops_the_turn() -> None:
    """Who takes a message back for good is not answered."""
    async with running(Script(hang), proxied=True) as bot:
        await bot.hears(first := message("hello", ADA))
        await wait_until(lambda: bot.discord.replies(first), description="it is being answered")
        await bot.door.deleted(first.channel, first.id)
        await bot.settles()


async def test_what_was_not_meant_for_us_at_first_is_credited_all_the_same() -> None:
    """The mention may stand in what the proxy says alone; the person's rights go with it."""
    async with running(Script(echo), proxied=True) as bot:
        unaddressed = replace(message("ada: hello", ADA), addressed=False)
        await bot.hears(unaddressed)
        await said_again(bot, "hello")
        await bot.settles()
        assert bot.discord.visible() == ["Ada the Brave: hello"]


async def test_a_stop_said_again_ends_the_turn_of_its_person() -> None:
    """The proxy's marks around the word keep it from being a stop at first."""
    async with running(Script(hang), proxied=True) as bot:
        await bot.hears(asked := message("hello", ADA))
        await wait_until(lambda: bot.discord.replies(asked), description="it is being answered")
        await bot.hears(replace(message("ada: stop", ADA), addressed=False))
        await said_again(bot, "stop", stop_phrase=True)
        await bot.settles()


async def test_nobody_is_stopped_by_somebody_else_s_proxy() -> None:
    """A stop is credited to who wrote it, not to whoever has a turn."""
    async with running(Script(hang), proxied=True) as bot:
        await bot.hears(asked := message("hello", ADA))
        await wait_until(lambda: bot.discord.replies(asked), description="it is being answered")
        await bot.hears(replace(message("bo: stop", BO), addressed=False))
        await said_again(bot, "stop", stop_phrase=True)
        assert bot.locks.answering(asked.id) is not None


async def test_whose_first_wording_nobody_heard_is_heard_under_the_proxy_s_name() -> None:
    """After a start in between, or from a place that we do not hear, it is a person's still."""
    async with running(Script(echo), proxied=True) as bot:
        await said_again(bot, "hello")
        await bot.settles()
        assert bot.discord.visible() == ["Ada the Brave: hello"]


async def test_a_person_who_is_blocked_is_so_behind_a_proxy_too() -> None:
    """What was not allowed at first is not allowed again."""
    async with running(Script(echo), proxied=True) as bot:
        await bot.hears(message("ada: hello", ADA), allowed=False)
        await said_again(bot, "hello")
        await bot.settles()
        assert bot.discord.visible() == []


async def test_a_picture_said_again_without_words_is_not_taken_for_somebody_else_s_message() -> (
    None
):
    """No words are part of every message; the picture tells whose it is."""
    picture = Attached("1", "cat.png", "image/png", 9, "https://cdn.discordapp.com/1")
    async with running(Script(think), proxied=True) as bot:
        await bot.hears(replace(message("ada:", ADA), attachments=(picture,)))
        await bot.hears(message("bo: ada: what is this?", BO))
        again = replace(message("", MASK), attachments=(replace(picture, id="2", url="new"),))
        await bot.hears(again, proxied=True)
        await bot.settles()
        assert bot.discord.visible() == [
            f"Ada the Brave ({ADA.id}):",
            f"Bo ({BO.id}): bo: ada: what is this?",
        ]


async def test_what_is_said_again_is_credited_to_the_message_that_is_most_like_it() -> None:
    """A moderator who has just written of a stop has not said it through somebody's proxy."""
    async with running(Script(hang), proxied=True) as bot:
        await bot.hears(asked := message("hello", ADA))
        await wait_until(lambda: bot.discord.replies(asked), description="it is being answered")
        await bot.hears(replace(message("b: stop", BO), addressed=False))
        await bot.hears(replace(message("will it ever stop?", CY), addressed=False), moderator=True)
        again = replace(HEARD, proxied=True, stop_phrase=True)
        assert isinstance(await bot.door.enter(message("stop", MASK), again), Placed)


async def test_what_was_said_again_is_no_new_message_when_the_channel_is_read_again() -> None:
    """The words of the first are answered in those of the second, whose id nobody answered."""
    async with running(Script(think), proxied=True) as bot:
        await bot.hears(message("ada: hello", ADA))
        again = await said_again(bot, "hello")
        await bot.settles()
        await bot.door.catch_up([(again, replace(HEARD, proxied=True))])
        bot.store.clock.now += 6
        await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.visible() == [f"Ada the Brave ({ADA.id}): hello"]
