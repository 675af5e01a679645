"""
The extension by which a bot plays a scene's scripts.

A module of its own, for an extension is executed anew by each bot that loads it.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from discord.ext import commands

from bot import Turn
from tests.scenarios.script import PLAY, Play


class Scripted(commands.Cog):
    """Plays what the scene says."""

    def __init__(self, play: Play) -> None:
        self._play = play

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Play one turn."""
        async with aclosing(self._play.run(turn)) as words:
            async for word in words:
                yield word


async def setup(bot: commands.Bot) -> None:
    """Add the cog."""
    await bot.add_cog(Scripted(PLAY.get()))
