"""What our layer costs the bot's processor for a message, beside what discord.py itself does."""

import asyncio
import gc
import json
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import discord
from discord.gateway import DiscordWebSocket

from benchmarks.measure import Burst, Comparison, Measurement, Row, Take, bursts_of, ratio
from benchmarks.plan import Plan
from benchmarks.server import Server, running_redis
from benchmarks.turns import opened, short_cycle
from state import State

#: Conversations at once on our side.
_WIDTH = 50

#: Messages that are heard before on_message gets its turn, as when one read brings several.
_IN_A_READ = 10

#: Messages of a burst, for each second that it is to last; about what discord.py hears.
_A_SECOND = 20_000


async def measure(plan: Plan) -> list[Row]:
    """Compare processor time: of a cycle on Redis, and of a message up to the end of on_message."""
    compared = Comparison[Burst]()
    with running_redis() as server:
        async with AsyncExitStack() as open_now:
            state = await open_now.enter_async_context(opened(server.url))
            compared.add("redis", await bursts_of(short_cycle(state), _WIDTH, plan.burst))
            client = await open_now.enter_async_context(_Listener())
            compared.add("discord", _heard(client, max(200, round(plan.burst * _A_SECOND))))
            taken = await compared.run(plan.rounds)
            served = await _server_us(server, state, plan)
    cpu = {name: [one.client_us for one in bursts] for name, bursts in taken.items()}
    return [
        Measurement("redis.cycle.50.client_us", "us cpu", cpu["redis"]),
        Measurement("redis.cycle.50.server_us", "us cpu", served),
        Measurement("discord.message.client_us", "us cpu", cpu["discord"]),
        ratio("redis.cycle.50.client_us.vs_discord", cpu["redis"], cpu["discord"]),
    ]


async def _server_us(server: Server, state: State, plan: Plan) -> list[float]:
    """Take the server's processor time for a cycle."""
    take = await bursts_of(short_cycle(state), _WIDTH, plan.burst)
    spent = []
    for _ in range(plan.rounds):
        before = server.cpu()
        cycles = (await take()).cycles
        spent.append((server.cpu() - before) / cycles * 1e6)
    return spent


class _Listener(discord.Client):
    """A client of stock discord.py that hears messages from nowhere."""

    def __init__(self) -> None:
        super().__init__(intents=discord.Intents(guilds=True, messages=True, message_content=True))
        self.heard = 0

    async def on_message(self, message: discord.Message, /) -> None:
        """Count it."""
        self.heard += 1


def _heard(client: _Listener, count: int) -> Take[Burst]:
    hear = _ear(client)
    frames = [_frame(number) for number in range(count)]

    async def take() -> Burst:
        client.heard = 0
        gc.collect()
        cpu, began = time.process_time(), time.perf_counter()
        for number, frame in enumerate(frames):
            await hear(frame)
            if number % _IN_A_READ == 0:
                await asyncio.sleep(0)
        await asyncio.sleep(0)  # the last ones
        assert client.heard == count, f"{count} messages, {client.heard} heard"
        return Burst(count, time.perf_counter() - began, time.process_time() - cpu)

    return take


def _ear(client: discord.Client) -> Callable[[str], Any]:
    """Give the client's way from a websocket's text to on_message, without the websocket."""
    # discord.py offers this way to its own gateway only.
    connection: Any = client._connection  # noqa: SLF001
    connection._add_guild_from_data(_GUILD)  # noqa: SLF001
    socket: Any = DiscordWebSocket(None, loop=asyncio.get_running_loop())  # type: ignore[arg-type]
    socket._discord_parsers = connection.parsers  # noqa: SLF001
    socket._dispatch = client.dispatch  # noqa: SLF001
    socket._dispatch_listeners = []  # noqa: SLF001
    socket._keep_alive = None  # noqa: SLF001
    socket.shard_id = None
    ear: Callable[[str], Any] = socket.received_message
    return ear


_GUILD: Any = {
    "id": "300000000000000001",
    "name": "guild",
    "owner_id": "1",
    "unavailable": False,
    "member_count": 500,
    "features": [],
    "emojis": [],
    "stickers": [],
    "roles": [],
    "channels": [{"id": "300000000000000002", "type": 0, "name": "general", "position": 0}],
    "members": [],
    "threads": [],
    "stage_instances": [],
    "guild_scheduled_events": [],
    "voice_states": [],
    "presences": [],
    "verification_level": 0,
    "explicit_content_filter": 0,
    "default_message_notifications": 0,
    "mfa_level": 0,
    "nsfw_level": 0,
    "premium_tier": 0,
    "preferred_locale": "en-US",
    "afk_timeout": 300,
}


def _frame(number: int) -> str:
    """Write a plain message of a hundred characters as the gateway sends it."""
    message = {
        "type": 0,
        "tts": False,
        "timestamp": "2026-01-01T12:34:56.789000+00:00",
        "pinned": False,
        "nonce": str(number),
        "mentions": [],
        "mention_roles": [],
        "mention_everyone": False,
        "member": {
            "roles": ["500000000000000001", "500000000000000002"],
            "premium_since": None,
            "pending": False,
            "nick": None,
            "mute": False,
            "deaf": False,
            "joined_at": "2024-01-02T03:04:05.678000+00:00",
            "flags": 0,
            "communication_disabled_until": None,
            "banner": None,
            "avatar": None,
        },
        "id": str(1_400_000_000_000_000_000 + number),
        "flags": 0,
        "embeds": [],
        "edited_timestamp": None,
        "content": "A typical message of about a hundred characters, give or take some more. " * 2,
        "components": [],
        "channel_type": 0,
        "channel_id": "300000000000000002",
        "author": {
            "id": str(400_000_000_000_000_000 + number % 500),
            "username": f"person{number % 500}",
            "discriminator": "0",
            "global_name": f"Person {number % 500}",
            "avatar": "0123456789abcdef0123456789abcdef",
            "public_flags": 0,
            "avatar_decoration_data": None,
            "primary_guild": None,
            "clan": None,
            "collectibles": None,
        },
        "attachments": [],
        "guild_id": "300000000000000001",
    }
    event = {"t": "MESSAGE_CREATE", "s": number, "op": 0, "d": message}
    return json.dumps(event, separators=(",", ":"))
