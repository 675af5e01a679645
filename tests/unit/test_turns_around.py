"""What a turn looks at: the channel around a question, and the files that came with it."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import surroundings
from bot.errors import AttachmentUnreadable
from bot.inbound import Attached, Kind, Message, Quoted, Remark, Trigger
from bot.responders import Turn
from bot.speaking import Rejected, Unreachable
from tests.unit.fake_process import Script, hurry, running
from tests.unit.fakes import ADA, BO, Discord, Fault, message, snowflake
from tests.unit.replays import ask, replayed

URL, NEW_URL = "https://cdn.discordapp.com/old", "https://cdn.discordapp.com/new"

PICTURE = Attached("71", "a.png", "image/png", 3, URL, "three bytes")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


# ------------------------------------------------------------------------------------------ context


async def looks(turn: Turn, limit: int | None = None) -> AsyncGenerator[str, None]:
    """Say what was said before."""
    yield " | ".join(f"{one.author.name}: {one.text}" for one in await turn.context(limit))


def crowd(*texts: str) -> Discord:
    """Make a channel in which Bo has said these, a minute ago."""
    discord = Discord()
    discord.remarks = [Remark(snowflake(60), BO, text) for text in texts]
    return discord


async def test_what_was_said_before_the_question_is_told_oldest_first() -> None:
    """By anybody, our own replies included; what came after the question is not there."""
    discord = crowd("one", "two")
    discord.remarks.append(Remark(snowflake(-60), BO, "later"))

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        context = await turn.context(2)
        yield ", ".join(f"{one.text} {one.ours}" for one in context)

    async with running(Script(respond), discord=discord) as bot:
        first, second = message("a", age=40), message("b", age=20)
        for asked in (first, second):
            await bot.hears(asked)
            await bot.settles()
        assert discord.replies(first) == ["one False, two False"]
        assert discord.replies(second) == ["one False, two False"]  # ours came after the question


async def test_as_many_are_read_as_the_settings_say_unless_the_cog_says_it() -> None:
    """At most a hundred, and with 0 Discord is not asked at all."""
    discord = crowd(*(str(number) for number in range(150)))
    counts: list[int] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        counts.extend([len(await turn.context(limit)) for limit in (None, 3, 500, 0)])
        yield "done"

    async with running(Script(respond), discord=discord) as bot:
        await ask(bot)
    assert counts == [20, 3, 100, 0]
    assert len(discord.asked("said")) == 3


async def test_a_replay_sees_the_channel_as_its_forerunner_has() -> None:
    """Read once and recorded: what is said or deleted meanwhile changes nothing."""
    discord = crowd("why is the sky blue?")

    async def first(turn: Turn) -> AsyncGenerator[str, None]:
        async for chunk in looks(turn):
            yield chunk
        discord.remarks = [Remark(snowflake(50), BO, "never mind")]

    _, discord = await replayed(first, looks, discord=discord)
    assert discord.visible() == ["Bo: why is the sky blue?"]
    assert len(discord.asked("said")) == 1


async def test_a_replay_may_do_without_the_context() -> None:
    """A look has no effect that could be lost: the settings may have changed meanwhile."""

    async def second(turn: Turn) -> AsyncGenerator[str, None]:
        await turn.context(0)
        yield "nothing"

    store, discord = await replayed(looks, second, discord=crowd("one"))
    assert discord.visible() == ["nothing"]
    assert [ending for _, ending in store.endings] == ["answered"]


async def test_where_history_may_not_be_read_there_is_no_context() -> None:
    """The question is answered all the same."""
    discord = crowd("secret")
    discord.next("said", Rejected(403, 50001, "Missing Access"))
    async with running(Script(looks), discord=discord) as bot:
        asked = await ask(bot)
        assert bot.store.ended(asked) == ["answered"]


async def test_context_is_read_again_when_discord_does_not_answer() -> None:
    """A moment's outage costs no turn."""
    discord = crowd("one")
    discord.next("said", Unreachable("503"), Unreachable("503"))
    async with running(Script(looks), discord=discord) as bot:
        asked = await ask(bot)
        assert discord.replies(asked) == ["Bo: one"]


async def test_a_press_is_asked_in_the_channel_as_it_is_now() -> None:
    """It is no message, before which there would be others."""
    discord = crowd("one")
    pressed = replace(message(id="7"), trigger=Trigger(Kind.BUTTON, "more"))
    async with running(Script(looks), discord=discord) as bot:
        await bot.hears(pressed)
        await bot.settles()
    assert discord.visible() == ["Bo: one"]


# ------------------------------------------------------------------------------------------ files


def pictured() -> Message:
    """Make a message with a picture in it."""
    return replace(message("look", age=1), attachments=(PICTURE,))


async def reading(
    discord: Discord, asked: Message | None = None, limit: int = 10
) -> list[bytes | str]:
    """Answer what a turn reads of its files, or why it cannot."""
    read: list[bytes | str] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "reading"
        for file in turn.attachments:
            try:
                read.append(await file.read(limit))
            except AttachmentUnreadable as error:
                read.append(str(error))

    async with running(Script(respond), discord=discord) as bot:
        asked = asked or pictured()
        await bot.hears(asked)
        await bot.settles()
        assert bot.store.ended(asked) == ["answered"]
    return read


def stored(**files: bytes) -> Discord:
    """Make a Discord that has these files, by `old` or `new` address."""
    discord = Discord()
    addresses = {"old": URL, "new": NEW_URL}
    discord.files = {addresses[name]: content for name, content in files.items()}
    return discord


async def test_a_turn_knows_the_files_of_its_messages() -> None:
    """Named, described and sized without being fetched; images are told from others."""
    text = replace(PICTURE, id="72", name="a.txt", content_type="text/plain", description=None)
    found: list[object] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        found.extend([one.name for one in turn.attachments])
        (image,) = turn.images
        found.append((image.name, image.content_type, image.size, image.url, image.description))
        yield "seen"

    discord = Discord()
    async with running(Script(respond), discord=discord) as bot:
        await bot.hears(replace(message(), attachments=(PICTURE, text)))
        await bot.settles()
    assert found == ["a.png", "a.txt", ("a.png", "image/png", 3, URL, "three bytes")]
    assert not discord.asked("fetch", "attached")


async def test_a_file_is_read() -> None:
    """By the address that it came with."""
    assert await reading(discord := stored(old=b"abc")) == [b"abc"]
    assert not discord.asked("attached")


async def test_a_file_is_fetched_anew_once_its_address_has_expired() -> None:
    """Discord signs it for a day; a turn may have waited longer."""
    discord, asked = stored(new=b"abc"), pictured()
    discord.attached[asked.id] = (replace(PICTURE, url=NEW_URL),)
    assert await reading(discord, asked) == [b"abc"]


async def test_a_file_of_the_quoted_message_is_read_from_that_message() -> None:
    """A question about a picture is asked in a reply to it."""
    discord = stored(new=b"abc")
    discord.attached["55"] = (replace(PICTURE, url=NEW_URL),)
    asked = replace(message("what is this?"), reply_to=Quoted("55", BO, "", (PICTURE,)))

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        (file,) = turn.quoted_attachments
        yield (await file.read()).decode()

    async with running(Script(respond), discord=discord) as bot:
        await bot.hears(asked)
        await bot.settles()
    assert discord.replies(asked) == ["abc"]


async def test_a_file_that_was_taken_off_its_message_is_said_to_be() -> None:
    """By its name; the turn decides what to do without it."""
    assert await reading(stored()) == ["a.png: it was taken off its message"]


async def test_a_file_over_the_limit_is_not_fetched() -> None:
    """Its size was told with its message."""
    discord = stored(old=b"abc")
    assert await reading(discord, limit=2) == ["a.png: it has 3 bytes, over 2"]
    assert not discord.asked("fetch")


async def test_a_file_that_does_not_come_in_time_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The turn has other things to do than to wait for it."""
    monkeypatch.setattr(surroundings, "FETCH_WITHIN", 0.02)
    discord = stored(old=b"abc")
    discord.next("fetch", Fault(hold=asyncio.Event()))
    assert await reading(discord) == ["a.png: it did not come within 0.02 s"]


async def test_an_outage_while_reading_is_sat_out() -> None:
    """It is asked for again until its time is up."""
    discord = stored(old=b"abc")
    discord.next("fetch", Unreachable("503"))
    assert await reading(discord) == [b"abc"]


async def test_a_message_that_is_nothing_but_a_file_starts_a_turn() -> None:
    """It addresses us like any other, and says nothing."""
    asked = replace(pictured(), text="", author=ADA)
    assert await reading(stored(old=b"abc"), asked) == [b"abc"]
