"""Responders that are measured: an extension of the bot's, told by each message what to do."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

from discord.ext import commands

from bot import Turn

#: Seconds between two chunks of a reply that goes on, as from a quick model.
_CHUNK_EVERY = 0.02

#: Seconds for which a responder goes on that does not heed its cancellation.
_RESISTS = 3.0


class Actor(commands.Cog):
    """Plays the state that a message names, until it is ended."""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Play it."""
        match turn.text.split():
            case ["mute"]:
                await asyncio.Event().wait()
            case ["tool"]:
                yield "Using a tool. "
                await turn.step("tool", _for_ever)
            case ["chain"]:
                yield "Using tools. "
                with turn.call_chain():
                    await turn.step("tool", _for_ever)
            case ["resist"]:
                yield "I will not end. "
                await _resist()
            case ["stream"]:
                while True:
                    yield "word "
                    await asyncio.sleep(_CHUNK_EVERY)
            case ["write", chunks, size, every]:
                for number in range(int(chunks)):
                    yield f"{number}".rjust(int(size) - 1, "x") + " "
                    await asyncio.sleep(float(every))
            case words:
                yield " ".join(words)


async def _for_ever(key: str) -> None:
    del key
    await asyncio.Event().wait()


async def _resist() -> None:
    """Go on in spite of being cancelled, as code does that catches everything."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + _RESISTS
    while (left := ends - loop.time()) > 0:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(left)


async def setup(bot: commands.Bot) -> None:
    """Add the cog."""
    await bot.add_cog(Actor())
