"""The whole bot on a sandbox, in the process of a test."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot import shards
from bot.client import Interlock
from bot.config import Loaded, Settings
from bot.gateway import point_at
from state import State

#: Seconds after READY for which guilds may follow; a sandbox sends all of its at once.
GUILDS_FOLLOW = 0.02

#: Seconds for the bot to come online; a fraction of one on an idle machine.
START = 30.0


@asynccontextmanager
async def running(
    settings: Settings | Loaded, state: State, *, token: str, api: str, gateway: str
) -> AsyncIterator[Interlock]:
    """
    Run the bot on the Discord at these addresses until the block ends; *state* stays open.

    Settings that were loaded follow the file that they are from.
    """
    source = settings if isinstance(settings, Loaded) else Loaded.made(settings)
    with _elsewhere(api, gateway):
        async with Interlock(source.settings, state, source=source) as bot:
            bot._connection.guild_ready_timeout = GUILDS_FOLLOW  # noqa: SLF001 (else two seconds)
            await bot.load()
            life = asyncio.create_task(bot.live(token), name="the bot")
            ready = asyncio.create_task(bot.wait_until_ready(), name="READY")
            try:
                await asyncio.wait({life, ready}, timeout=START, return_when="FIRST_COMPLETED")
                if life.done():
                    await life
                yield bot
            finally:
                ready.cancel()
                bot.end()
                await life


@contextmanager
def _elsewhere(api: str, gateway: str) -> Iterator[None]:
    """Point discord.py at these addresses, whose gateway lets everybody identify at once."""
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, shards.EVERY
    point_at(api, gateway)
    shards.EVERY = 0.0
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, shards.EVERY = before
