"""The smallest responder: it says what it hears, word by word."""

from collections.abc import AsyncGenerator

from discord.ext import commands

from bot import Turn


class Echo(commands.Cog):
    """Repeats the message."""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Yield each word as a chunk of its own."""
        for word in turn.text.split():
            yield word + " "


async def setup(bot: commands.Bot) -> None:
    """Add the cog."""
    await bot.add_cog(Echo())
