"""/usage: how much of today's replies is used up."""

import datetime as dt

import discord
from discord import app_commands
from discord.ext import commands

from bot import texts
from bot.client import Interlock
from bot.interactions import answer, here
from bot.rates import TURNS


class Usage(commands.Cog):
    """Tells people how far they are from the day's cap."""

    def __init__(self, bot: Interlock) -> None:
        """Count in *bot*'s store."""
        self._bot = bot

    @app_commands.command()
    async def usage(self, interaction: discord.Interaction) -> None:
        """Show how many replies were given today, and how many may be."""
        await answer(interaction, self._usage(interaction))

    async def _usage(self, interaction: discord.Interaction) -> str:
        now = dt.datetime.now(dt.UTC)
        owner = here(interaction).owner
        used = (await self._bot.state.usage(owner, now.date().isoformat())).get(TURNS, 0)
        most = self._bot.settings.limits.owner_turns_per_day
        midnight = (now + dt.timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        said = texts.here().usage_server if interaction.guild_id else texts.here().usage_direct
        again = discord.utils.format_dt(midnight, "R")
        return said.format(used=used, most=most, again=again)


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Usage(bot))
