"""The command /ask: a question put to the bot where it is not, or need not be, mentioned."""

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import Interlock


class Ask(commands.Cog):
    """Asks for a turn as a message would."""

    def __init__(self, bot: Interlock) -> None:
        """Start turns of *bot*."""
        self._bot = bot

    @app_commands.command()
    @app_commands.describe(question="What you want to know")
    async def ask(self, interaction: discord.Interaction, question: str) -> None:
        """Ask something; the answer takes its turn like that to a message."""
        await self._bot.start_turn(interaction, question)


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Ask(bot))
