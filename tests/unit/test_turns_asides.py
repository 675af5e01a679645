"""What a turn says beside its reply: once over every replay, and taken back where it says so."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from bot.responders import Turn
from bot.speaking import Rejected, Unreachable
from tests.unit.fake_process import Respond, Script, hurry, running
from tests.unit.fake_store import Store
from tests.unit.fakes import Discord, Fault, message
from tests.unit.replays import ask, replayed
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


def says(*texts: str) -> Respond:
    """Say each of these beside the reply."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for text in texts:
            await turn.say(text)
        yield "reply"

    return respond


async def test_it_is_a_message_of_its_own_and_no_part_of_the_reply() -> None:
    """It replies to nothing, and the transcript does not have it."""
    said: list[str] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        said.extend(one.text for one in await turn.history())
        await turn.say("aside")
        yield "reply"

    async with running(Script(respond)) as bot:
        asked = await ask(bot)
        assert bot.discord.visible() == ["aside", "reply"]
        assert bot.discord.replies(asked) == ["reply"]
        await ask(bot, "b")
    assert said == ["a", "reply"]


async def test_a_turn_that_says_all_of_it_beside_its_reply_is_not_empty() -> None:
    """Nobody shrugs at it."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        await turn.say("all of it")
        yield ""

    async with running(Script(respond)) as bot:
        asked = await ask(bot)
        await bot.notices.told()
        assert bot.discord.visible() == ["all of it"]
        assert bot.discord.reactions(asked.id) == set()


async def test_it_is_edited_and_taken_back() -> None:
    """What was taken back is edited no more."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        kept, gone = await turn.say("one"), await turn.say("two")
        await kept.edit("three")
        await gone.delete()
        await gone.edit("four")
        yield "reply"

    async with running(Script(respond)) as bot:
        await ask(bot)
        assert bot.discord.visible() == ["three", "reply"]


async def test_a_replay_finds_what_was_said_and_says_it_no_second_time() -> None:
    """Each in the message of its forerunner, brought to the replay's own words."""
    _, discord = await replayed(says("one", "two"), says("one", "2"))
    assert discord.visible() == ["one", "2", "reply"]
    assert len(discord.messages) == 3


async def test_a_replay_finds_what_was_said_beyond_the_nonce_window() -> None:
    """A create whose answer was lost with its process is found in the channel."""
    store, discord = Store(), Discord()
    sent = Fault(Unreachable("lost"), lost=True, hold=asyncio.Event())
    discord.next("create", sent)
    async with running(Script(says("one")), store=store, discord=discord) as bot:
        await bot.hears(message())
        await wait_until(lambda: discord.asked("create"), description="it is being said")
        await bot.crash()
    assert discord.visible() == ["one"]
    discord.knows_nonces = discord.shows_nonces = False
    store.clock.now += 16
    async with running(Script(says("one")), store=store.another(), discord=discord) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    assert discord.visible() == ["one", "reply"]


async def test_what_a_replay_does_not_say_is_deleted() -> None:
    """It belongs to a reply that nobody got."""
    _, discord = await replayed(says("one", "two"), says("one"))
    assert discord.visible() == ["one", "reply"]


async def test_what_was_taken_back_does_not_appear_again_in_a_replay() -> None:
    """Not for a moment: that it was deleted is on record."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        await (await turn.say("hush")).delete()
        yield "reply"

    _, discord = await replayed(respond, respond)
    assert discord.visible() == ["reply"]
    assert len(discord.messages) == 2


async def test_a_replay_may_do_without_what_was_taken_back() -> None:
    """Nothing of it is left."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        await (await turn.say("hush")).delete()
        yield "reply"

    store, discord = await replayed(respond, says())
    assert discord.visible() == ["reply"]
    assert [ending for _, ending in store.endings] == ["answered"]


async def test_one_that_cannot_be_edited_any_more_is_said_anew() -> None:
    """As a page of a reply is: somebody deleted it, or it is too old."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        said = await turn.say("0 %")
        discord.messages[0].deleted = True
        await said.edit("100 %")
        yield "reply"

    discord = Discord()
    async with running(Script(respond), discord=discord) as bot:
        await ask(bot)
    assert discord.visible() == ["100 %", "reply"]


async def test_a_discord_that_does_not_answer_is_asked_again() -> None:
    """Under the same nonce, so that it is said once."""
    discord = Discord()
    discord.next("create", Fault(Unreachable("503"), lost=True), Unreachable("503"))
    async with running(Script(says("one")), discord=discord) as bot:
        await ask(bot)
    assert discord.visible() == ["one", "reply"]


async def test_a_refusal_ends_the_turn_as_one_of_its_reply_does() -> None:
    """Nothing more may be said there."""
    discord = Discord()
    refused = Fault(Rejected(403, 50013, "Missing Permissions"))
    discord.plan = lambda _number, method: refused if method == "create" else None
    async with running(Script(says("one", "two")), discord=discord) as bot:
        asked = await ask(bot)
        assert bot.store.ended(asked) == ["dead-lettered"]
    assert len(discord.asked("create")) <= 2  # an apology is tried


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ((" ",), "needs text"),
        (("x" * 2001,), "2001 UTF-16 units"),
        (("x",) * 21, "at most 20 messages"),
    ],
    ids=["empty", "long", "many"],
)
async def test_what_cannot_be_said_fails_the_turn_by_its_line(
    texts: tuple[str, ...], why: str
) -> None:
    """Nothing is cut or dropped in silence."""
    async with running(Script(says(*texts))) as bot:
        await ask(bot)
        (letter,) = (await bot.store.port.dead_letters("guild/301")).letters
        assert why in letter.error
