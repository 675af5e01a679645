"""Output: all of the text, once, whatever its size and whatever becomes of its messages."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from bot import Turn, texts
from tests.scenarios.scene import ADA, BO, STOPPED, SUPERSEDED, Room, Scene
from tests.scenarios.script import LLM

#: UTF-16 units of one message on Discord.
LIMIT = 2_000


def said(room: Room) -> str:
    """All that the bot has said here, files included."""
    parts = []
    for message in room.own():
        parts.append("" if message.content == texts.here().file_page else message.content)
        for file in message.attachments:
            kept = room.world.discord.files.file(file["url"].partition("/cdn/")[2])
            assert kept is not None
            parts.append(kept.content.decode())
    return "".join(parts)


@pytest.mark.parametrize("length", [2_000, 2_001, 3_999, 4_001])
async def test_B89_a_text_of_any_length_arrives_in_full(
    scene: Scene, room: Room, length: int
) -> None:
    """Beyond 2000 characters it was dropped, or cut with a line in a log."""
    text = "".join(chr(ord("a") + number % 26) for number in range(length))
    async with scene.bot() as bot:
        room.says(ADA, "@q1", LLM(text))
        await scene.until(room.own, "it is shown")
        await scene.settles(bot)
    assert "".join(room.replies()) == text
    assert all(len(reply) <= LIMIT for reply in room.replies())


async def test_B90_a_page_that_overflows_while_it_streams_makes_one_new_message(
    scene: Scene, room: Room
) -> None:
    """Beyond the limit the tail was lost, or a new message came with each edit."""
    words = [f"{number:099}" for number in range(50)]

    async def five_thousand(turn: Turn) -> AsyncGenerator[str, None]:
        for word in words:
            await asyncio.sleep(1)
            yield f"{word} "

    async with scene.bot() as bot:
        room.says(ADA, "@q1", five_thousand)
        await scene.passes(30)
        assert len(room.own()) == 2
        await scene.settles(bot)
    assert " ".join(room.replies()).split() == words
    assert len(room.requests("POST", "/messages")) == len(room.own()) == 3


async def test_B97_a_very_long_reply_is_a_few_messages_and_a_file(scene: Scene, room: Room) -> None:
    """Ten thousand characters went out as a burst that met the channel's limit."""
    text = "".join(f"{number:05}\n" for number in range(5_000))
    async with scene.bot() as bot:
        room.says(ADA, "@q1", LLM(text))
        await scene.until(lambda: texts.here().file_page in room.replies(), "there is a file")
        await scene.settles(bot)
    assert len(room.own()) == 7
    assert said(room).replace("\n", "") == text.replace("\n", "")


async def test_B98_a_reply_comes_as_an_unread_message_when_it_is_done(
    scene: Scene, room: Room
) -> None:
    """The final text was an edit of what had been read, and nobody noticed."""
    async with scene.bot(final="new") as bot:
        room.says(ADA, "@q1", LLM(60))
        await room.streams()
        [read] = room.own()
        await scene.settles(bot)
        [answer] = room.own()
    assert answer.content.endswith("59 60 end")
    assert answer.id > read.id
    assert answer.edited_timestamp is None


async def test_B98_what_grew_goes_only_after_the_new_message_is_there(
    scene: Scene, room: Room
) -> None:
    """It was removed first, and then the new one failed."""
    async with scene.bot(final="new") as bot:
        room.says(ADA, "@q1", LLM(5))
        await room.streams()
        [grows] = room.own()
        scene.fails("POST /channels/*/messages", status=500, times=None)
        await room.shows("q1: 1 2 3 4 5 end")
        await scene.passes(20)
        assert [message.id for message in room.own()] == [grows.id]
        scene.heals()
        await scene.settles(bot)
        [answer] = room.own()
    assert answer.content == "q1: 1 2 3 4 5 end"
    assert answer.id > grows.id


@pytest.mark.parametrize("says", ["", "   ", "\u200b\u2060"])
async def test_B100_an_empty_answer_sends_nothing_and_harms_nobody(
    scene: Scene, room: Room, says: str
) -> None:
    """Discord refused the empty message, and the process died of it."""
    async with scene.bot():
        asked = room.says(ADA, "@q1", LLM(says))
        await room.marked(asked, texts.EMPTY)
        room.says(BO, "@q2")
        await room.shows("q2: end")
    assert len(room.requests("POST", "/messages")) == 1


async def test_B103_a_question_that_is_deleted_ends_its_reply_without_an_error(
    scene: Scene, room: Room
) -> None:
    """The first chunk could not refer to it, and with it all the others were lost."""
    async with scene.bot() as bot:
        asked = room.says(ADA, "@q1", LLM("never shown", after=5))
        await scene.passes(2)
        room.world.delete(asked)
        await scene.settles(bot)
        asked = room.says(ADA, "@q2", LLM(5))
        await room.streams()
        room.world.delete(asked)
        await room.shows(f"q2:…{STOPPED}")
    assert scene.play.asked == ["q1", "q2"]


async def test_B103_a_reply_whose_question_vanished_unheard_is_sent_without_the_reference(
    scene: Scene, room: Room
) -> None:
    """A deletion during a reconnect is not told of; the reply must not depend on it."""
    async with scene.bot():
        asked = room.says(ADA, "@q1", LLM("in full", after=5))
        await scene.passes(1)
        del room.world.discord.messages[room.id][asked]
        await room.shows("in full")


@pytest.mark.parametrize("outage", [1, None])
async def test_B105_a_partial_reply_that_cannot_be_removed_does_not_look_like_the_answer(
    scene: Scene, room: Room, outage: int | None
) -> None:
    """Its removal failed, and the old text stayed beside the answer as if it were one."""
    async with scene.bot(partial="delete") as bot:
        room.says(ADA, "@q1", LLM(30))
        await room.streams()
        scene.fails("DELETE /channels/*/messages/*", status=500, times=outage)
        room.says(ADA, "@q2", LLM(2))
        await scene.until(lambda: room.replies()[-1:] == ["q2: 1 2 end"], "the answer is there")
        await scene.settles(bot)
        await scene.passes(10)
        scene.heals()
        if outage == 1:
            await room.shows("q2: 1 2 end")
        else:
            await room.shows(f"q1:…{SUPERSEDED}", "q2: 1 2 end")


async def test_B105_what_grew_is_removed_later_when_it_cannot_be_at_once(
    scene: Scene, room: Room
) -> None:
    """Its removal failed, and nobody tried again."""
    async with scene.bot(final="new") as bot:
        scene.fails("DELETE /channels/*/messages/*", status=500, times=None)
        room.says(ADA, "@q1", LLM(5))
        await scene.until(lambda: len(room.own()) == 2, "the answer is there")
        await scene.settles(bot)
        _, answer = room.own()
        scene.heals()
        await room.shows("q1: 1 2 3 4 5 end")
    assert [message.id for message in room.own()] == [answer.id]
