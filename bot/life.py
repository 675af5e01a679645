"""A process of the bot from its start to its end."""

import asyncio
import os
import signal
import sys

from bot.client import Interlock
from bot.config import Loaded
from bot.gateway import point_at
from state import connect


async def run(loaded: Loaded) -> int:
    """Run the bot until it is told to end; the exit code. Raise a `StartupFailed` with its line."""
    settings = loaded.settings
    point_at(settings.discord.api, settings.discord.gateway)
    url = settings.state.url.get_secret_value()
    state = connect(url, prefix=settings.state.prefix, partitions=settings.state.partitions)
    try:
        token = settings.discord.token
        async with Interlock(settings, state, source=loaded) as bot:
            heed_signals(bot)
            await bot.load()
            await bot.live(token.get_secret_value() if token else "")
    finally:
        await state.close()
    return 0


def heed_signals(bot: Interlock) -> None:
    """Drain on the first SIGTERM or SIGINT, end at once on the second; on SIGHUP read settings."""

    def told() -> None:
        if bot.end():
            os._exit(1)  # leases end by themselves; whoever asks twice does not want to wait

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told)
    # A terminal that closes sends it too, and means the end.
    loop.add_signal_handler(signal.SIGHUP, told if _has_terminal() else bot.rereading.ask)


def _has_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
