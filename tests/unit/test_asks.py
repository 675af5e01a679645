"""What a command tells before it is a turn: whether the channel is ours, and its options."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import aiohttp
import discord
import pytest
import structlog.testing
from discord import Permissions, app_commands

from bot.asks import defer, options, speaks

TALKS = Permissions(view_channel=True, send_messages=True)
GUILD = 301


def used(**what: object) -> Any:  # noqa: ANN401 (an interaction, as far as it is looked at)
    """A command used in a channel of our guild, where we may speak, but for *what* differs."""
    told: dict[str, object] = {
        "id": 7,
        "guild_id": GUILD,
        "context": app_commands.AppCommandContext(guild=True),
        "app_permissions": TALKS,
        "channel": Mock(spec=discord.TextChannel),
        "data": {},
    }
    return SimpleNamespace(**{**told, **what})


def thread(*, locked: bool) -> Any:  # noqa: ANN401
    """A thread."""
    return Mock(spec=discord.Thread, locked=locked)


WRITES = Permissions(send_messages_in_threads=True)
DIRECT = app_commands.AppCommandContext(dm_channel=True)
BETWEEN_OTHERS = app_commands.AppCommandContext(private_channel=True)


@pytest.mark.parametrize(
    ("interaction", "may"),
    [
        (used(), True),
        (used(guild_id=302), False),
        (used(app_permissions=Permissions(view_channel=True)), False),
        (used(app_permissions=Permissions(send_messages=True)), False),
        (used(channel=thread(locked=False), app_permissions=TALKS), False),
        (used(channel=thread(locked=False), app_permissions=WRITES), True),
        (used(channel=thread(locked=True), app_permissions=WRITES), False),
        (
            used(
                channel=thread(locked=True),
                app_permissions=WRITES | Permissions(manage_threads=True),
            ),
            True,
        ),
        (used(guild_id=None, context=DIRECT, app_permissions=Permissions.none()), True),
        (used(guild_id=None, context=BETWEEN_OTHERS), False),
    ],
)
def test_whether_the_channel_is_ours_to_speak_in(
    interaction: Any,  # noqa: ANN401
    may: bool,
) -> None:
    """Else all of the reply goes by the token: as where the person has brought us along."""
    assert speaks(interaction, lambda guild: guild == GUILD) is may


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({}, {}),
        ({"options": [{"name": "dish", "type": 3, "value": "soup"}]}, {"dish": "soup"}),
        (
            {
                "options": [
                    {
                        "name": "group",
                        "type": 2,
                        "options": [
                            {
                                "name": "sub",
                                "type": 1,
                                "options": [{"name": "spoons", "type": 4, "value": 2}],
                            }
                        ],
                    }
                ]
            },
            {"spoons": 2},
        ),
        ({"target_id": "17", "resolved": {}}, {"target": "17"}),
    ],
)
def test_options_are_told_as_discord_sent_them(
    data: dict[str, object], told: dict[str, object]
) -> None:
    """By name, whatever subcommand they belong to; a context menu has what it was used on."""
    assert options(used(data=data)) == told


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (
            discord.HTTPException(
                Mock(status=400, reason=""), {"code": 40060, "message": "acknowledged"}
            ),
            "deferred by another process",
        ),
        (
            discord.NotFound(Mock(status=404, reason=""), {"code": 10062, "message": "unknown"}),
            "not deferred",
        ),
        (aiohttp.ServerDisconnectedError(), "not deferred"),
        (OSError("gone"), "not deferred"),
    ],
)
async def test_what_keeps_from_deferring_does_not_keep_from_answering(
    error: Exception, event: str
) -> None:
    """The command goes on to the store either way."""
    with structlog.testing.capture_logs() as logged:
        await defer(used(response=Mock(defer=AsyncMock(side_effect=error))))
    assert [entry["event"] for entry in logged] == [event]
