"""What a turn says beside its reply and later, by the whole bot on a Discord on loopback."""

import pytest

from bot.errors import ConfigInvalid
from sandbox import Sandbox
from tests.discord.bots import Room, running

RINGER = "tests.discord.ringer"


async def test_a_timer_rings_in_a_message_that_is_no_reply_and_names_its_person(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the settings of its place; what was said beside the reply stands by itself, too."""
    room = Room(sandbox)
    async with running(
        sandbox,
        monkeypatch,
        extensions=(RINGER,),
        conversation={"responder": "Ringer"},
        channels={str(room.id): {"cogs": {"ringer": {"sound": "dong"}}}},
    ):
        room.say("Ada", "ring me")
        aside, reply, rung = await room.until_replies("wound up", "in a moment", "dong for Ada")
    ada = room.world.person("Ada").id
    assert (aside, reply, rung) == ("wound up", "in a moment", f"<@{ada}> dong for Ada")
    assert [bool(message.reference) for message in room.own()] == [False, True, False]


async def test_a_cog_whose_settings_are_wrong_is_refused_at_the_start(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line that names the key; not in the middle of somebody's reply."""
    with pytest.raises(ConfigInvalid, match=r"cogs\.ringer\.sound"):
        async with running(
            sandbox,
            monkeypatch,
            extensions=(RINGER,),
            conversation={"responder": "Ringer"},
            cogs={"ringer": {"sound": 7}},
        ):
            pass
