"""
A responder that a test leads from outside its process, by files in the working directory.

It says the words of the message one by one. `until:NAME` waits for the file NAME; `step:` is a
step, and `step:NAME` one whose effect takes until there is a file NAME. Each run of an effect is
noted in the file `effects`.
"""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path

from discord.ext import commands

from bot import Turn

#: Where each run of an effect notes its idempotency key, one a line.
EFFECTS = Path("effects")

#: Seconds between two looks at the folder.
INTERVAL = 0.01


class Staged(commands.Cog):
    """Speaks as far as it is let."""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Play the message word by word."""
        for word in turn.text.split():
            match word.partition(":"):
                case ("until", ":", name):
                    await _until(name)
                case ("step", ":", name):
                    yield await turn.step("work", partial(_work, name)) + " "
                case _:
                    yield word + " "


async def _work(name: str, key: str) -> str:
    _note(key)
    if name:
        await _until(name)
    return "worked"


def _note(key: str) -> None:
    with EFFECTS.open("a") as effects:
        effects.write(f"{key}\n")


async def _until(name: str) -> None:
    while not Path(name).exists():  # noqa: ASYNC110, ASYNC240 (another process makes it)
        await asyncio.sleep(INTERVAL)


async def setup(bot: commands.Bot) -> None:
    """Add the cog."""
    await bot.add_cog(Staged())
