"""Keep the gateway's sessions: what each may see, its numbered events, and its socket."""

import asyncio
import copy
import json
import secrets
import time
import zlib
from collections import deque
from typing import Any

from aiohttp import web
from discord import Intents
from simcord.backend import serializers
from simcord.intents import censor_message, prune_guild_create, required_intent

from sandbox.backend import Discord
from sandbox.protocol import Op, unnumbered

REPLAY = 2_000
"""Events kept for a RESUME. A socket that falls further behind than this is cut off."""


class Session:
    """Number the events of one shard of one bot process, and remember them for a RESUME."""

    def __init__(self, *, shard: int, count: int, intents: Intents) -> None:
        self.id = secrets.token_hex(16)
        self.shard = shard
        self.count = count
        self.seq = 0
        self.connection: Connection | None = None
        self.detached_at = time.monotonic()
        self._intents = intents
        self._frames: deque[str] = deque(maxlen=REPLAY)

    def covers(self, guild_id: int | None) -> bool:
        """Tell whether a guild's events are this shard's; those without a guild are shard 0's."""
        return self.shard == (0 if guild_id is None else (guild_id >> 22) % self.count)

    def dispatch(self, event: str, payload: dict[str, Any], discord: Discord) -> None:
        """Number and send an event, in the form and only if its intents let it see it."""
        intent = required_intent(event, payload)
        if intent is not None and not getattr(self._intents, intent):
            return
        shown = self._censored(event, payload, discord)
        self.seq += 1
        self._frames.append(json.dumps({"op": Op.DISPATCH, "t": event, "s": self.seq, "d": shown}))
        if self.connection is not None:
            self.connection.wake.set()

    def since(self, seq: int) -> list[str] | None:
        """List the frames after `seq`, or `None` when they are not all kept any more."""
        missed = self.seq - seq
        if not 0 <= missed <= len(self._frames):
            return None
        return [self._frames[index] for index in range(-missed, 0)]

    def _censored(self, event: str, payload: dict[str, Any], discord: Discord) -> dict[str, Any]:
        bot = discord.bot_user.id
        if event == "GUILD_CREATE":
            pruned = copy.copy(payload)
            prune_guild_create(pruned, self._intents, bot)
            return pruned
        if self._intents.message_content:
            return payload
        if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
            payload = copy.deepcopy(payload)
            censor_message(payload, bot, backend=discord)
        elif event == "INTERACTION_CREATE" and "message" in payload:
            payload = copy.deepcopy(payload)
            censor_message(payload["message"], bot, backend=discord, exempt_root=True)
        return payload


def ready_payload(discord: Discord, session: Session, *, flags: int, url: str) -> dict[str, Any]:
    """Describe the bot to itself as READY does; `flags` are the application's, `url` is ours."""
    covered = [guild.id for guild in discord.guilds.values() if session.covers(guild.id)]
    return {
        "v": 10,
        "user": dict(serializers.user_payload(discord.bot_user)),
        "guilds": [{"id": str(one), "unavailable": True} for one in covered],
        "session_id": session.id,
        "session_type": "normal",
        "resume_gateway_url": url,
        "shard": [session.shard, session.count],
        "application": {"id": str(discord.application_id), "flags": flags},
        "private_channels": [],
        "relationships": [],
    }


class Connection:
    """Write to one socket, in order: what is urgent first, then the session's events."""

    def __init__(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        self.socket = socket
        self.session: Session | None = None
        self.sent = 0
        self.muted = False
        self.deaf = False
        self.goodbye = False
        self.wake = asyncio.Event()
        self._request = request
        self._urgent: deque[str] = deque()
        # A client that asks for another compression, such as zstd-stream, is given plain text.
        compressed = request.query.get("compress") == "zlib-stream"
        self._compressor = zlib.compressobj() if compressed else None

    def send(self, op: Op, payload: object = None) -> None:
        """Send a frame that has no number; a muted socket sends nothing."""
        if not self.muted:
            self._urgent.append(unnumbered(op, payload))
            self.wake.set()

    def cut_off(self) -> None:
        """Let nothing through any more in either direction, with the socket left open."""
        self.muted = self.deaf = True

    async def pump(self) -> None:
        """Write until the socket ends. Only this task writes: a zlib stream has an order."""
        while not self.socket.closed:
            await self.wake.wait()
            self.wake.clear()
            while not self.muted and (frames := self._due()):
                for frame in frames:
                    await self._write(frame)

    def _due(self) -> list[str] | None:
        if self._urgent:
            return [self._urgent.popleft()]
        if self.session is None:
            return None
        frames = self.session.since(self.sent)
        if frames is None:
            # Too far behind: without these events the client's state would silently be wrong.
            self.drop()
            return None
        self.sent = self.session.seq
        return frames

    async def _write(self, frame: str) -> None:
        try:
            if self._compressor is None:
                await self.socket.send_str(frame)
            else:
                data = self._compressor.compress(frame.encode())
                await self.socket.send_bytes(data + self._compressor.flush(zlib.Z_SYNC_FLUSH))
        except ConnectionError:
            self.drop()

    def drop(self) -> None:
        """Cut the socket without a close frame, as a network failure does."""
        if self._request.transport is not None:
            self._request.transport.abort()
