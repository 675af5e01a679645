"""The fixtures for tests of an author's cog: a running bot on a sandbox, and a room in it."""

from collections.abc import Mapping

import pytest

from bot.testing.room import Room

pytest_plugins = ["bot.testing.fixtures"]


@pytest.fixture
def interlock_settings() -> Mapping[str, object]:
    """Answer by the echo, without an interlock.toml."""
    return {"extensions": ["cogs.echo"], "conversation": {"responder": "Echo"}}


async def test_what_a_person_says_is_answered(room: Room) -> None:
    """In two lines: somebody speaks, the reply is read."""
    room.says("Ada", "hello")
    assert await room.reply() == "hello"


async def test_replies_are_read_one_after_the_other(room: Room) -> None:
    """Whatever their number of pages, and also when both are there already."""
    long = " ".join(f"word{number}" for number in range(600))
    room.says("Ada", long[:1900])
    room.says("Bo", "short")
    assert (await room.reply()).split() == long[:1900].split()
    assert await room.reply() == "short"


async def test_a_reply_that_does_not_come_fails_the_test(room: Room) -> None:
    """What is shown instead is told."""
    room.says("Ada", "not to the bot", addressed=False)
    with pytest.raises(AssertionError, match=r"no reply within 0\.1 s; shown so far: \[\]"):
        await room.reply(within=0.1)
