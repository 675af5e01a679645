"""A process of the bot from its start to its end."""

import asyncio
import os
import signal

from bot.client import Interlock
from bot.config import Settings
from bot.gateway import point_at
from state import connect


async def run(settings: Settings) -> int:
    """Run the bot until it is told to end; the exit code. Raise a `StartupFailed` with its line."""
    point_at(settings.discord.api, settings.discord.gateway)
    url = settings.state.url.get_secret_value()
    state = connect(url, prefix=settings.state.prefix, partitions=settings.state.partitions)
    try:
        token = settings.discord.token
        async with Interlock(settings, state) as bot:
            end_by_signal(bot)
            await bot.load()
            await bot.live(token.get_secret_value() if token else "")
    finally:
        await state.close()
    return 0


def end_by_signal(bot: Interlock) -> None:
    """Drain on the first SIGTERM or SIGINT; end at once on the second."""

    def told() -> None:
        if bot.end():
            os._exit(1)  # leases end by themselves; whoever asks twice does not want to wait

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told)
