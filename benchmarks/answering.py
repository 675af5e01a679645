"""A bot that just answers, in stock discord.py: `python -m benchmarks.answering --help`."""

import argparse
import os

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route


class Bare(discord.Client):
    """What a tutorial shows."""

    async def on_message(self, message: discord.Message, /) -> None:
        """Repeat what addresses us."""
        if self.user in message.mentions and not message.author.bot:
            await message.channel.send(message.content)


def main() -> None:
    """Serve until ended; the token comes from the environment, as the bot's does."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answering", description=__doc__)
    parser.add_argument("--discord-api", required=True)
    parser.add_argument("--discord-gateway", required=True)
    asked = parser.parse_args()
    Route.BASE = asked.discord_api
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(asked.discord_gateway)
    intents = discord.Intents(guilds=True, messages=True, message_content=True)
    Bare(intents=intents).run(os.environ["INTERLOCK_TOKEN"], log_handler=None)


if __name__ == "__main__":
    main()
