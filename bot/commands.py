"""
Slash commands: offered to Discord only when they differ from what it has.

Never at READY: each reconnect would sync anew, and Discord allows 200 creations a day. Comparing
with what Discord has makes it one process' work: those that start later find nothing to do.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol, cast

import discord
import structlog
from discord import app_commands
from discord.ext import commands

from bot import texts
from bot.errors import TurnNotStarted
from bot.texts import Texts

log = structlog.get_logger(__name__)

#: Fields that Discord adds or fills with its own defaults, and that we do not set.
_ADDED = {
    "id", "application_id", "version", "guild_id", "default_permission", "handler",
    "name_localizations", "description_localizations", "integration_types",
}  # fmt: skip


class _Worded(Protocol):
    """A client that knows in which words a place is answered."""

    def said(self, interaction: discord.Interaction[Any]) -> Texts:
        """The words of where *interaction* was made."""
        ...


class CommandTree(app_commands.CommandTree[commands.AutoShardedBot]):
    """The slash commands, answered in the language of where they are used."""

    async def interaction_check(self, interaction: discord.Interaction[Any], /) -> bool:
        """Choose the words of the command that runs in this task; forbid none."""
        texts.speak(cast("_Worded", self.client).said(interaction))
        return True

    async def on_error(
        self, interaction: discord.Interaction[Any], error: app_commands.AppCommandError, /
    ) -> None:
        """Tell whoever used it."""
        await command_failed(interaction, error)


async def sync_commands(bot: commands.AutoShardedBot) -> bool:
    """Sync the tree if Discord has another; whether it did."""
    ours = [command.to_dict(bot.tree) for command in bot.tree.get_commands()]
    application_id = bot.application_id
    assert application_id is not None  # noqa: S101 (known since login)
    there = await bot.http.get_global_commands(application_id)
    if _by_name(ours) == _by_name(there):
        return False
    await bot.tree.sync()
    log.info("commands synced", commands=sorted(command["name"] for command in ours))
    return True


def _by_name(commands: Iterable[Mapping[str, Any]]) -> dict[tuple[int, str], dict[str, Any]]:
    """A slash command may have the name of a context menu."""
    return {(command["type"], command["name"]): _comparable(command) for command in commands}


def _comparable(command: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce a command, ours or Discord's, to what both state; empty means absent."""
    plain: dict[str, Any] = {}
    for key, value in command.items():
        if key in _ADDED or value in (None, False, [], {}, "0"):
            continue
        if isinstance(value, list) and isinstance(value[0], Mapping):
            plain[key] = [_comparable(part) for part in value]
        else:  # permissions are an integer with us and a string with Discord
            plain[key] = str(value) if key == "default_member_permissions" else value
    return plain


async def command_failed(
    interaction: discord.Interaction[Any], error: app_commands.AppCommandError
) -> None:
    """Log why a command failed, a mistake in calling us in one line, and tell who used it."""
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    name = interaction.command.qualified_name if interaction.command else ""
    if isinstance(cause, TurnNotStarted):
        log.error("command failed", command=name, reason=str(cause))
    else:
        log.error("command failed", command=name, exc_info=cause)
    if not interaction.response.is_done():
        with suppress(discord.HTTPException):
            await interaction.response.send_message(texts.here().command_failed, ephemeral=True)
