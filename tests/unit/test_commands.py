"""Slash commands are offered to Discord only when they differ from what it has."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import discord
import pytest
from discord import app_commands

from bot.commands import sync_commands

#: What Discord fills in by itself.
ADDED = {
    "id": "1",
    "application_id": "2",
    "version": "3",
    "default_permission": True,
    "nsfw": False,
    "integration_types": [0, 1],
    "name_localizations": None,
    "description_localizations": None,
}


@app_commands.command()
@app_commands.default_permissions(manage_channels=True)
@app_commands.describe(text="What to say")
async def say(interaction: discord.Interaction, text: str, times: int = 1) -> None:
    """Say something."""


@app_commands.command()
async def hush(interaction: discord.Interaction) -> None:
    """Say nothing."""


class Bot:
    """A bot with a tree of commands, and Discord with a list of its own."""

    def __init__(self, *ours: "app_commands.Command[Any, ..., None]") -> None:
        client: Any = SimpleNamespace(
            http=SimpleNamespace(_get_command_tree=None),
            _connection=SimpleNamespace(_command_tree=None),
        )
        self.tree = app_commands.CommandTree(client)
        for command in ours:
            self.tree.add_command(command)
        self.tree.sync = AsyncMock()  # type: ignore[method-assign]
        self.application_id = 2
        self.http = SimpleNamespace(get_global_commands=AsyncMock(return_value=[]))

    def there(self, *commands: dict[str, Any]) -> "Bot":
        """Let Discord have these."""
        self.http.get_global_commands.return_value = list(commands)
        return self

    def as_discord_has(self, command: "app_commands.Command[Any, ..., None]") -> dict[str, Any]:
        """Tell a command as Discord tells it back: completed, permissions as text."""
        told = {**command.to_dict(self.tree), **ADDED}
        told["default_member_permissions"] = (
            None if command.default_permissions is None else str(command.default_permissions.value)
        )
        for option in told.get("options", []):
            option.update(name_localizations=None, description_localizations=None)
        return told

    async def syncs(self) -> bool:
        """Start up; whether the commands were sent."""
        bot: Any = self
        told = await sync_commands(bot)
        assert self.tree.sync.await_count == int(told)  # type: ignore[attr-defined]
        return told


async def test_commands_that_discord_has_already_are_not_sent() -> None:
    """Each start and each process would else use up Discord's 200 creations a day."""
    bot = Bot(say, hush)
    assert not await bot.there(bot.as_discord_has(hush), bot.as_discord_has(say)).syncs()


async def test_no_commands_and_none_there_is_no_difference() -> None:
    """Nor is it a reason to ask for anything else."""
    assert not await Bot().syncs()


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Say something else."},
        {"default_member_permissions": None},
        {"default_member_permissions": "8"},
        {"options": []},
        {"contexts": [0]},
    ],
)
async def test_any_difference_is_sent(change: dict[str, Any]) -> None:
    """What people see, what they may, what it takes."""
    bot = Bot(say)
    assert await bot.there({**bot.as_discord_has(say), **change}).syncs()


async def test_a_command_more_or_less_is_sent() -> None:
    """New ones appear, and old ones go."""
    bot = Bot(say)
    assert await bot.there().syncs()
    bot = Bot(say)
    assert await bot.there(bot.as_discord_has(say), bot.as_discord_has(hush)).syncs()
