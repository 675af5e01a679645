"""The way to Discord: where it is, what is asked of it, and one line when it refuses."""

import time

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket, ReconnectWebSocket
from discord.http import Route

from bot.errors import IntentMissing, StartupFailed, TokenRefused

#: Seconds for which a lost session is asked for. Discord keeps one for a few minutes, without a
#: figure; one that it keeps no longer is told of by an answer, and another is begun then.
RESUMABLE = 180.0

#: The longest pauses between two dials, as powers of two: 32 s while a session may be resumed, so
#: that it is asked for several times; else 256 s, drawn from 0 on, which are 700 identifies a day,
#: below the thousand that Discord grants. discord.py itself waits for up to 17 minutes.
PAUSE_RESUMING, PAUSE_IDENTIFYING = 5, 8

#: Sessions that Discord grants and that no start touches, of a thousand a day or more: for whoever
#: has found out why the others were used up, and to start all shards of a large bot once.
STARTS_KEPT = 50

#: What closes the gateway when a token was taken away or reset.
AUTHENTICATION_FAILED = 4004

REFUSED = (
    "discord.token: Discord refuses it; copy it anew from the developer portal, "
    'or run "interlock init"'
)

#: What slash commands are offered in: guilds and direct messages.
CONTEXTS = discord.app_commands.AppCommandContext(guild=True, dm_channel=True)


def intents() -> discord.Intents:
    """What we need to hear: messages and their content, in guilds and direct messages."""
    wanted = discord.Intents.none()
    wanted.guilds = wanted.guild_messages = wanted.dm_messages = wanted.message_content = True
    return wanted


def point_at(api: str | None, gateway: str | None) -> None:
    """Point discord.py at another server than Discord: its two addresses, nothing else."""
    if api is not None:
        Route.BASE = api
    if gateway is not None:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)


async def log_in(client: discord.AutoShardedClient, token: str) -> None:
    """
    Show who we are; raise a `StartupFailed` with its line when it is refused.

    Also when Discord grants too few further sessions: something starts the bot again and again,
    and when none is left, Discord takes the token away. A refused start uses none up.
    """
    try:
        await client.login(token)
        starts = await client.fetch_session_start_limits()
    except discord.LoginFailure:
        raise TokenRefused(REFUSED) from None
    except (discord.DiscordServerError, aiohttp.ClientError, OSError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise StartupFailed(
            f"{Route.BASE} cannot be reached ({reason}); check the network and discord.api"
        ) from None
    if starts.remaining < STARTS_KEPT:
        hours = starts.reset_after / 3_600_000
        raise StartupFailed(
            f"Discord grants this bot {starts.remaining} of {starts.total} more sessions, and "
            f"{STARTS_KEPT} of them are kept: something starts it again and again; find out what "
            f"from the log before the next start, which may be in {hours:.1f} h"
        )


def keep_session(client: discord.AutoShardedClient, shard_id: int) -> None:
    """
    Let a shard whose socket is lost ask for its session until that is reached again.

    discord.py begins another when the first dial fails, as it does while a network is away; what
    was said since the loss would then never be heard. And it dials more and more seldom.
    """
    info = client.get_shard(shard_id)
    assert info is not None  # noqa: S101 (it has just been launched)
    shard = info._parent  # noqa: SLF001 (there is no other way to it)
    identify, backoff = shard.reconnect, shard._backoff  # noqa: SLF001
    lost: DiscordWebSocket | None = None
    since = 0.0

    async def reconnect() -> None:
        nonlocal lost, since
        if shard.ws is not lost:
            lost, since = shard.ws, time.monotonic()
        resumable = time.monotonic() - since < RESUMABLE
        backoff._max = PAUSE_RESUMING if resumable else PAUSE_IDENTIFYING  # noqa: SLF001
        if resumable and shard.ws.session_id is not None:
            await shard.reidentify(ReconnectWebSocket(shard_id, resume=True))
        else:
            await identify()

    shard.reconnect = reconnect  # type: ignore[method-assign]


async def connect(client: discord.Client) -> None:
    """
    Hear Discord's events until the client is closed.

    Raise `IntentMissing` if it may not, `TokenRefused` once the token is good for nothing any more.
    """
    try:
        await client.connect()
    except discord.ConnectionClosed as closed:
        if closed.code == AUTHENTICATION_FAILED:
            raise TokenRefused(REFUSED) from None
        raise
    except discord.PrivilegedIntentsRequired:
        raise IntentMissing(
            'Discord does not grant the message content intent; switch on "Message Content '
            'Intent" under Bot in the developer portal'
        ) from None
