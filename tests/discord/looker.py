"""A cog that says what it sees, as an extension for tests of the whole bot."""

from collections.abc import AsyncGenerator

from discord.ext import commands

from bot import Turn


class Looker(commands.Cog):
    """Tells what was said before, and what is in the files."""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Tell all of it in one line."""
        for remark in await turn.context(5):
            yield f"{remark.author.name}: {remark.text}{' (ours)' if remark.ours else ''}; "
        for file in (*turn.attachments, *turn.quoted_attachments):
            content = (await file.read()).decode()
            yield f"{file.name} ({file.content_type}, {file.size}): {content}; "
        yield "that is all."


async def setup(bot: commands.Bot) -> None:
    """Add the cog."""
    await bot.add_cog(Looker())
