"""
Ask Discord who the bot is, before anything of the bot is started.

Plain REST, two requests: a token that Discord refuses must cost a line, not a gateway session.
"""

from dataclasses import dataclass
from typing import cast

import aiohttp

from bot.config import Place
from bot.errors import StartupFailed, TokenRefused

#: Where Discord's REST API is, when the settings name no other.
DISCORD_API = "https://discord.com/api/v10"

#: Seconds for each request: a person waits at a terminal.
_TIMEOUT = aiohttp.ClientTimeout(total=15)

#: Flags of an application whose bot may read what people write: granted, or small enough to need
#: no grant.
_MESSAGE_CONTENT = 1 << 18 | 1 << 19

#: The least that a bot needs here: view channels, send, send in threads, read history, add
#: reactions, attach files, embed links.
_RIGHTS = 1 << 10 | 1 << 11 | 1 << 38 | 1 << 16 | 1 << 6 | 1 << 15 | 1 << 14


#: Types of channels that are threads: of announcements, public, private.
_THREADS = (10, 11, 12)


@dataclass(frozen=True, slots=True)
class Application:
    """The bot behind a token."""

    id: str
    bot_name: str
    flags: int

    @property
    def reads_messages(self) -> bool:
        """Whether the message content intent is switched on in Discord's portal."""
        return bool(self.flags & _MESSAGE_CONTENT)

    @property
    def invite(self) -> str:
        """The link by which the owner of a server adds the bot, with the least rights."""
        return (
            "https://discord.com/oauth2/authorize"
            f"?client_id={self.id}&scope=bot+applications.commands&permissions={_RIGHTS}"
        )

    @property
    def portal(self) -> str:
        """The page on which its intents are switched."""
        return f"https://discord.com/developers/applications/{self.id}/bot"


async def who_is(token: str, api: str | None) -> Application:
    """
    Answer whose token it is; *api* replaces Discord's address.

    Raise `TokenRefused` when Discord refuses it, `StartupFailed` when nothing sensible answers.
    """
    base = (api or DISCORD_API).rstrip("/")
    async with aiohttp.ClientSession(headers=_headers(token), timeout=_TIMEOUT) as session:
        user = await _get(session, f"{base}/users/@me")
        application = await _get(session, f"{base}/oauth2/applications/@me")
    flags = application.get("flags", 0)
    return Application(
        id=str(application["id"]),
        bot_name=str(user.get("username", "")),
        flags=flags if isinstance(flags, int) else 0,
    )


async def where_is(token: str, api: str | None, channel: str) -> Place:
    """
    Answer where a channel or thread is.

    Raise `TokenRefused` when Discord refuses the token, `StartupFailed` when it does not say.
    """
    base = (api or DISCORD_API).rstrip("/")
    async with aiohttp.ClientSession(headers=_headers(token), timeout=_TIMEOUT) as session:
        found = await _get(session, f"{base}/channels/{channel}")
        parent = _id(found.get("parent_id"))
        guild = _id(found.get("guild_id"))
        if found.get("type") not in _THREADS or parent is None:
            return Place(channel, None, parent, guild)
        above = await _get(session, f"{base}/channels/{parent}")
    return Place(channel, parent, _id(above.get("parent_id")), guild)


def _id(value: object) -> str | None:
    return str(value) if value else None


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bot {token}", "User-Agent": "DiscordBot (interlock, 0.1)"}


async def _get(session: aiohttp.ClientSession, url: str) -> dict[str, object]:
    try:
        async with session.get(url) as response:
            if response.status == 401:  # noqa: PLR2004 - HTTP's number for it
                raise TokenRefused(
                    "discord.token: Discord refuses it; copy it anew from"
                    " https://discord.com/developers/applications and run: interlock init"
                )
            if not response.ok:
                raise StartupFailed(f"{url} answers {response.status}; try again later")
            answer: object = await response.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise StartupFailed(
            f"{url} cannot be reached ({reason}); check the network and discord.api"
        ) from None
    if not isinstance(answer, dict) or "id" not in answer:
        raise StartupFailed(f"{url} is no Discord; check discord.api")
    return cast("dict[str, object]", answer)
