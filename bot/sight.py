"""What the bot reads of Discord on a turn's behalf: a channel, and the files of messages."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import aiohttp
import discord
from discord.http import Route

from bot.errors import AttachmentUnreadable
from bot.inbound import Attached, Remark
from bot.plain import attached, named, person_of
from bot.speaking import Rejected, Unreachable
from bot.wire import TOO_MANY_REQUESTS, trace_config, translated

#: Where Discord keeps files. Nothing else is fetched: an address could lead into our own network.
FILE_HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})

#: Bytes of a file that are taken up at once.
PIECE = 1 << 16

OK, SERVER_ERROR = 200, 500


class DiscordSight:
    """`bot.speaking.Sight` over a discord.py client."""

    def __init__(self, client: discord.Client) -> None:
        """Read through *client*, which must be logged in."""
        self._client = client

    async def said(self, channel: str, *, before: str | None, limit: int) -> Sequence[Remark]:
        """Read what people and bots have typed; pins and joins are left out."""
        place = self._client.get_partial_messageable(int(channel))
        until = discord.Object(int(before)) if before is not None else None
        async with translated():
            history = place.history(limit=limit, before=until)
            typed = [one async for one in history if not one.is_system()]
        return [self._remark(one) for one in reversed(typed)]

    def _remark(self, message: discord.Message) -> Remark:
        me = self._client.user
        text = re.sub(f"<@!?{me.id}>", "", message.content) if me else message.content
        text = named(text, message.mentions).strip()
        return Remark(str(message.id), person_of(message.author), text, ours=message.author == me)

    async def attached(self, channel: str, message: str) -> Sequence[Attached]:
        """Read a message again: Discord signs its files' addresses anew each time."""
        place = self._client.get_partial_messageable(int(channel))
        async with translated():
            return attached(await place.get_partial_message(int(message)).fetch())

    async def fetch(self, url: str, *, limit: int) -> bytes:
        """Fetch a file, and follow no redirect."""
        if not _is_discords(url):
            raise AttachmentUnreadable(f"{urlsplit(url).hostname} is not where Discord keeps files")
        async with (
            translated(),
            aiohttp.ClientSession(trace_configs=[trace_config()]) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            if answer.status >= SERVER_ERROR or answer.status == TOO_MANY_REQUESTS:
                raise Unreachable(f"{answer.status}")
            if answer.status != OK:
                raise Rejected(answer.status, 0, answer.reason or "")
            content = bytearray()
            async for piece in answer.content.iter_chunked(PIECE):
                content += piece
                if len(content) > limit:  # whatever size it was said to have
                    raise AttachmentUnreadable(f"it has more than {limit} bytes")
            return bytes(content)


def _is_discords(url: str) -> bool:
    """Whether Discord keeps files there; a stand-in for it keeps them on the host of its API."""
    parts, api = urlsplit(url), urlsplit(Route.BASE)
    if parts.scheme == "https" and parts.hostname in FILE_HOSTS:
        return True
    there = (parts.scheme, parts.hostname) == (api.scheme, api.hostname)
    return there and api.hostname != "discord.com"
