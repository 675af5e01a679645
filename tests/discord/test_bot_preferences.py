"""/settings: whoever manages a guild changes there what the operator leaves to them."""

from typing import Any

import pytest

from sandbox import Sandbox
from tests.discord.bots import EXTENSIONS, Room, running
from tests.discord.commanding import privately
from tests.waiting import wait_until


def leaving(sandbox: Sandbox, *keys: str, **tables: object) -> dict[str, Any]:
    """Make settings that leave *keys* to admins, of whom Bo is one."""
    world = sandbox.world
    world.grant(world.guild.id, world.person("Bo").id, ("manage_guild",), role="Admins")
    return {
        "extensions": (*EXTENSIONS, "cogs.preferences"),
        "access": {"guild_settings": keys},
        **tables,
    }


async def test_a_change_holds_for_the_next_message_and_can_be_taken_back(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reply that is being written goes on as it was begun."""
    async with running(sandbox, monkeypatch, None, **leaving(sandbox, "responder", "buttons")):
        room = Room(sandbox)
        assert await privately(room, "Bo", "settings") == "`responder`: (none)\n`buttons`: true"
        room.say("Ada", "count to 4 slowly")
        await wait_until(room.replies, description="the stream")
        told = await privately(room, "Bo", "settings", key="responder", value="Echo")
        assert told.startswith("`responder`: Echo (set here)\nIt holds within 30 s")
        room.say("Cy", "count to 2")
        await room.until_replies("1 2 3 4", "count to 2")
        await privately(room, "Bo", "settings", key="responder", value="default")
        room.say("Cy", "count to 3")
        await room.until_replies("1 2 3 4", "count to 2", "1 2 3")


async def test_what_cannot_be_is_refused_in_a_line(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other keys, values that no setting has, cogs that are not there."""
    async with running(sandbox, monkeypatch, None, **leaving(sandbox, "mode", "responder")):
        room = Room(sandbox)
        told = await privately(room, "Bo", "settings", key="inbox", value="3")
        assert told == "That is none of the settings that can be changed: mode, responder."
        told = await privately(room, "Bo", "settings", key="mode", value="all")
        assert told.startswith('Not changed: /settings: mode: "all" is not one of them; write ')
        told = await privately(room, "Bo", "settings", key="responder", value="Parot")
        assert told.startswith('Not changed: the cog "Parot" is not loaded; responders: ')
        assert await privately(room, "Bo", "settings", key="mode") == "`mode`: queue"


async def test_others_change_nothing_and_learn_why(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right is checked when the command is used, for an admin may offer it to everybody."""
    async with running(sandbox, monkeypatch, None, **leaving(sandbox, "mode")) as bot:
        room = Room(sandbox)
        command = sandbox.world.discord.find_command("settings", None)
        assert command is not None
        command["default_member_permissions"] = None
        told = await privately(room, "Cy", "settings", key="mode", value="drop")
        assert told == "Changing settings needs the right Manage Server."
        assert await bot.guild_settings.texts(str(room.world.guild.id)) == {}


async def test_where_nothing_is_left_to_admins_they_are_told_so(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is until the operator lists keys."""
    async with running(sandbox, monkeypatch, None, **leaving(sandbox)):
        told = await privately(Room(sandbox), "Bo", "settings", key="mode", value="drop")
        assert told.startswith("Nothing can be changed here")
