"""What was said and sent around a question, as the whole bot sees it on a Discord on loopback."""

from collections.abc import AsyncIterator

import pytest

from sandbox import Sandbox
from tests.discord.bots import Room, running

ALL = "that is all."


@pytest.fixture
async def room(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Room]:
    """Run the bot with a cog that tells what it sees."""
    looker = {"responder": "Looker"}
    async with running(
        sandbox, monkeypatch, extensions=("tests.discord.looker",), conversation=looker
    ):
        yield Room(sandbox)


async def test_b124_an_unaddressed_question_just_before_is_in_the_context(room: Room) -> None:
    """Mentioned right after it, we are asked about that; our own replies are told as ours."""
    room.say("Ada", "why is X?", addressed=False)
    room.say("Ada", "^^")
    await room.until_replies(f"Ada: why is X?; {ALL}")
    room.say("Bo", "and?")
    _, second = await room.until_replies(ALL, ALL)
    assert second == f"Ada: why is X?; Ada: ^^; Interlock: Ada: why is X?; {ALL} (ours); {ALL}"


async def test_a_direct_message_that_is_nothing_but_a_file_is_answered(room: Room) -> None:
    """It says nothing, and is addressed to us all the same."""
    ada = room.world.person("Ada").id
    direct = room.world.open_dm(ada)
    room.world.say(direct.id, ada, "", files=[("a.txt", b"a cat")])
    there = Room(room.sandbox)
    there.id = direct.id
    await there.until_replies(f"a.txt (text/plain, 5): a cat; {ALL}")


async def test_a_file_in_the_message_that_is_replied_to_can_be_read(room: Room) -> None:
    """As well as those of the reply."""
    ada, mention = room.world.person("Ada").id, f"<@{room.sandbox.application_id}>"
    shown = room.world.say(room.id, ada, "", files=[("a.txt", b"a cat")])
    room.world.say(room.id, ada, mention, reply_to=shown.id, files=[("b.txt", b"!")])
    await room.until_replies(
        f"Ada: ; b.txt (text/plain, 1): !; a.txt (text/plain, 5): a cat; {ALL}"
    )


async def test_a_file_whose_address_has_expired_is_found_by_its_message(room: Room) -> None:
    """Its message is read again, which signs the address anew."""
    ada, files = room.world.person("Ada").id, room.world.discord.files
    direct = room.world.open_dm(ada)
    there = Room(room.sandbox)
    there.id = direct.id
    expired: list[str] = []

    def file(path: str) -> object:
        if path not in expired:
            expired.append(path)
            return None
        return type(files).file(files, path)

    files.file = file  # type: ignore[method-assign, assignment]
    room.world.say(direct.id, ada, "", files=[("a.txt", b"a cat")])
    await there.until_replies(f"a.txt (text/plain, 5): a cat; {ALL}")
    assert expired
