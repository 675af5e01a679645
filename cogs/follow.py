"""/follow and /unfollow: answer in a channel without being addressed."""

import discord
from discord import app_commands
from discord.ext import commands

from bot import texts
from bot.client import Interlock
from bot.interactions import Privately, answer, here


class Follow(commands.Cog):
    """Keeps the list of followed channels and threads."""

    def __init__(self, bot: Interlock) -> None:
        """Follow through *bot*'s list."""
        self._bot = bot

    @app_commands.command()
    @app_commands.guild_only()
    @app_commands.default_permissions(manage_channels=True)
    async def follow(self, interaction: discord.Interaction) -> None:
        """Answer every message here that is not addressed to somebody else."""
        await answer(interaction, self._follow(interaction), public=True)

    @app_commands.command()
    @app_commands.guild_only()
    @app_commands.default_permissions(manage_channels=True)
    async def unfollow(self, interaction: discord.Interaction) -> None:
        """Answer here only when addressed."""
        await answer(interaction, self._unfollow(interaction), public=True)

    async def _follow(self, interaction: discord.Interaction) -> str:
        if not self._may(interaction):
            return Privately(texts.here().follow_right)
        await self._bot.followed.follow(here(interaction), str(interaction.id))
        return texts.here().following

    async def _unfollow(self, interaction: discord.Interaction) -> str:
        if not self._may(interaction):
            return Privately(texts.here().unfollow_right)
        await self._bot.followed.unfollow(here(interaction))
        return texts.here().unfollowed

    def _may(self, interaction: discord.Interaction) -> bool:
        """Check at run time: Discord's default permissions can be overridden by an admin."""
        operator = str(interaction.user.id) in self._bot.settings.access.operators
        return operator or interaction.permissions.manage_channels


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Follow(bot))
