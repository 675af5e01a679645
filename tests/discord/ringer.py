"""A cog that speaks beside its replies and later, as an extension for tests of the whole bot."""

from collections.abc import AsyncGenerator

from discord.ext import commands
from pydantic import BaseModel

from bot import Kind, Turn


class Bell(BaseModel):
    """The table `[cogs.ringer]`."""

    sound: str = "ding"


class Ringer(commands.Cog):
    """Rings a moment after it was asked to."""

    settings_model = Bell

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Set the timer, or ring."""
        if turn.trigger.kind is Kind.TIMER:
            yield f"{turn.settings.sound} for {turn.trigger.payload}"
            return
        said = await turn.say("winding up…")
        turn.schedule("ring", delay=0.1, payload=turn.author.name)
        await said.edit("wound up")
        yield "in a moment"


async def setup(bot: commands.Bot) -> None:
    """Add the cog."""
    await bot.add_cog(Ringer())
