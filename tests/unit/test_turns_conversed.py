"""What a turn offers, as an author's test with `converse` sees it."""

from collections.abc import AsyncGenerator

from discord.ext import commands
from pydantic import BaseModel

from bot import Kind, Turn
from bot.testing import Conversation


class Manners(BaseModel):
    """A cog's own settings."""

    greeting: str = "hello"


class Secretary(commands.Cog):
    """Uses all of it."""

    settings_model = Manners

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Say what is known, and come back later."""
        if turn.trigger.kind is Kind.TIMER:
            yield f"later: {turn.trigger.payload}"
            return
        for remark in await turn.context():
            yield f"{remark.author.name} said {remark.text!r}; "
        for file in turn.images:
            yield f"{file.name} holds {(await file.read())!r}; "
        turn.schedule("later", delay=60, payload="tea")
        yield turn.settings.greeting


async def test_an_author_can_try_context_files_timers_and_settings_without_sockets() -> None:
    """What people say unaddressed is around a question, as in a real channel."""
    table = {"cogs": {__name__.rpartition(".")[2]: {"greeting": "good day"}}}
    async with Conversation(Secretary, settings=table) as room:
        await room.say("why is the sky blue?", by="Bo", addressed=False)
        await room.say("^^", files={"sky.png": b"blue"})
        shown = await room.settles()
        assert shown.text == ("Bo said 'why is the sky blue?'; sky.png holds b'blue'; good day")
        shown = await room.passes(61)
        assert shown.text.endswith("later: tea")
