"""
Slash commands: offered to Discord only when they differ from what it has.

Never at READY: each reconnect would sync anew, and Discord allows 200 creations a day. Comparing
with what Discord has makes it one process' work: those that start later find nothing to do.
"""

from collections.abc import Mapping
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.ext import commands

log = structlog.get_logger(__name__)

#: Fields that Discord adds or fills with its own defaults, and that we do not set.
_ADDED = {
    "id", "application_id", "version", "guild_id", "default_permission", "handler",
    "name_localizations", "description_localizations", "integration_types",
}  # fmt: skip


async def sync_commands(bot: commands.AutoShardedBot) -> bool:
    """Sync the tree if Discord has another; whether it did."""
    wanted = {command.name: _comparable(command.to_dict(bot.tree)) for command in _all(bot.tree)}
    application_id = bot.application_id
    assert application_id is not None  # noqa: S101 (known since login)
    there = await bot.http.get_global_commands(application_id)
    if wanted == {command["name"]: _comparable(command) for command in there}:
        return False
    await bot.tree.sync()
    log.info("commands synced", commands=sorted(wanted))
    return True


def _all(tree: "app_commands.CommandTree[Any]") -> list[Any]:
    return tree.get_commands(type=discord.AppCommandType.chat_input)


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
