"""Serve the gateway: identify, heartbeat, resume, and the ways in which a connection goes wrong."""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import WSMsgType, web
from discord import Intents
from simcord.backend import serializers
from simcord.intents import missing_privileged_intents

from sandbox.members import member_chunks
from sandbox.protocol import FRAME_BYTES, SENDS, SENDS_WINDOW, CloseCode, Closed, Op, Terms
from sandbox.sessions import Connection, Session
from sandbox.world import World

RESUMABLE = 180.0
"""Seconds for which a session without a socket is kept; Discord says "a few minutes"."""

STARTS = 1_000
"""Identifies that Discord grants a bot in a day."""

CLOSING = 1.0
"""Seconds to wait for the other side's half of a close; a hung client must not hold up the end."""


class Gateway:
    """Hold all sessions and sockets, and deliver the world's events to them."""

    def __init__(
        self, world: World, terms: Terms, *, url: str, on_presence: Callable[[bool], None]
    ) -> None:
        self.identifies = 0
        self.resumes = 0
        self.heartbeats = 0
        self.sessions: dict[str, Session] = {}
        self.terms = terms
        self.url = url
        self._world = world
        self._on_presence = on_presence
        self._connections: set[Connection] = set()
        self._identified: dict[int, float] = {}
        world.listeners.append(self._dispatch)

    @property
    def online(self) -> bool:
        """Tell whether any session has a socket."""
        return any(one.connection is not None for one in self.sessions.values())

    def info(self) -> dict[str, Any]:
        """Answer what `GET /gateway/bot` does."""
        return {
            "url": self.url,
            "shards": self.terms.shards,
            "session_start_limit": {
                "total": STARTS,
                "remaining": max(0, STARTS - self.identifies),
                "reset_after": 86_400_000,
                "max_concurrency": self.terms.max_concurrency,
            },
        }

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one socket until it ends."""
        socket = web.WebSocketResponse(compress=False, timeout=CLOSING)
        await socket.prepare(request)
        connection = Connection(request, socket)
        self._connections.add(connection)
        connection.send(Op.HELLO, {"heartbeat_interval": int(self.terms.heartbeat * 1000)})
        try:
            async with asyncio.TaskGroup() as tasks:
                pump = tasks.create_task(connection.pump())
                await self._listen(connection)
                pump.cancel()
        finally:
            self._connections.discard(connection)
            self._detach(connection)
        return socket

    # ------------------------------------------------------------------------------------- faults

    def drop(self, shard: int | None = None) -> None:
        """Cut the sockets of a shard (of all when none is given); their sessions can be resumed."""
        for connection in self._of(shard):
            connection.drop()

    def reconnect(self, shard: int | None = None) -> None:
        """Ask the clients to reconnect and resume, as before a restart of Discord's own."""
        for connection in self._of(shard):
            connection.send(Op.RECONNECT)

    def invalidate(self, shard: int | None = None) -> None:
        """End the sessions, resumable or not: their clients must identify anew and miss events."""
        for session in list(self.sessions.values()):
            if shard in (None, session.shard):
                del self.sessions[session.id]
                if session.connection is not None:
                    self._forget_session(session.connection)
        self._on_presence(self.online)

    def silence(self, shard: int | None = None) -> None:
        """Send nothing more on the open sockets, not even a heartbeat's acknowledgement."""
        for connection in self._of(shard):
            connection.muted = True

    def unmute(self) -> None:
        """End the silence; what was held back follows."""
        for connection in self._connections:
            connection.muted = False
            connection.wake.set()

    async def close(self) -> None:
        """Close every socket."""
        closing = [one.socket.close(code=1001, drain=False) for one in list(self._connections)]
        await asyncio.gather(*closing)

    def _of(self, shard: int | None) -> Iterator[Connection]:
        for connection in list(self._connections):
            session = connection.session
            if shard is None or (session is not None and session.shard == shard):
                yield connection

    # ------------------------------------------------------------------------------------ delivery

    def _dispatch(self, event: str, payload: dict[str, Any]) -> None:
        about_guild = event in ("GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE")
        guild = payload.get("id") if about_guild else payload.get("guild_id")
        guild_id = None if guild is None else int(guild)
        for session in list(self.sessions.values()):
            if session.covers(guild_id):
                session.dispatch(event, payload, self._world.discord)

    def _detach(self, connection: Connection) -> None:
        session = connection.session
        if session is None or session.connection is not connection:
            return
        session.connection = None
        session.detached_at = time.monotonic()
        # A client that says goodbye ends its session; any other end leaves it resumable.
        if connection.socket.close_code in (1000, 1001):
            self.sessions.pop(session.id, None)
        self._on_presence(self.online)

    def _forget_session(self, connection: Connection) -> None:
        connection.session = None
        connection.send(Op.INVALID_SESSION, False)  # noqa: FBT003 - the payload is a boolean

    # ----------------------------------------------------------------------------------- listening

    async def _listen(self, connection: Connection) -> None:
        recent: deque[float] = deque(maxlen=SENDS)
        try:
            while True:
                # Twice the interval without a heartbeat is Discord's sign of a dead client.
                message = await connection.socket.receive(timeout=2 * self.terms.heartbeat)
                if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    return
                now = time.monotonic()
                if len(recent) == SENDS and now - recent[0] < SENDS_WINDOW:
                    raise Closed(CloseCode.RATE_LIMITED)
                recent.append(now)
                self._receive(connection, message.data)
        except Closed as end:
            await connection.socket.close(code=end.code, message=end.code.name.encode())
        except TimeoutError:
            await connection.socket.close(code=CloseCode.TIMED_OUT)

    def _receive(self, connection: Connection, raw: str | bytes) -> None:
        if len(raw) > FRAME_BYTES:
            raise Closed(CloseCode.DECODE_ERROR)
        try:
            frame = json.loads(raw)
            op, payload = Op(frame["op"]), frame.get("d")
        except (TypeError, KeyError, json.JSONDecodeError):
            raise Closed(CloseCode.DECODE_ERROR) from None
        except ValueError:
            raise Closed(CloseCode.UNKNOWN_OP) from None
        match op:
            case Op.HEARTBEAT:
                self.heartbeats += 1
                connection.send(Op.ACK)
            case Op.IDENTIFY:
                self._identify(connection, payload)
            case Op.RESUME:
                self._resume(connection, payload)
            case _ if connection.session is None:
                raise Closed(CloseCode.NOT_AUTHENTICATED)
            case Op.MEMBERS:
                for chunk in member_chunks(self._world.discord, payload):
                    connection.session.dispatch("GUILD_MEMBERS_CHUNK", chunk, self._world.discord)
            case Op.PRESENCE | Op.VOICE:
                pass  # Nothing here shows a presence or carries a voice.
            case _:
                raise Closed(CloseCode.UNKNOWN_OP)

    # ---------------------------------------------------------------------------- identify, resume

    def _identify(self, connection: Connection, payload: dict[str, Any]) -> None:
        if connection.session is not None:
            raise Closed(CloseCode.ALREADY_AUTHENTICATED)
        self._authenticate(payload)
        shard, count = payload.get("shard") or (0, 1)
        if not 0 <= shard < count:
            raise Closed(CloseCode.INVALID_SHARD)
        intents = self._intents(payload)
        if not self._granted(shard):
            self._forget_session(connection)
            return
        self.identifies += 1
        session = Session(shard=shard, count=count, intents=intents)
        self._prune()
        self.sessions[session.id] = session
        self._attach(connection, session, seq=0)
        self._welcome(session)

    def _welcome(self, session: Session) -> None:
        discord = self._world.discord
        guilds = [one for one in discord.guilds.values() if session.covers(one.id)]
        ready = {
            "v": 10,
            "user": dict(serializers.user_payload(discord.bot_user)),
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self.url,
            "shard": [session.shard, session.count],
            "application": {
                "id": str(discord.application_id),
                "flags": self.terms.application_flags,
            },
            "private_channels": [],
            "relationships": [],
        }
        session.dispatch("READY", ready, discord)
        for guild in guilds:
            session.dispatch("GUILD_CREATE", discord.guild_payload(guild), discord)

    def _resume(self, connection: Connection, payload: dict[str, Any]) -> None:
        if connection.session is not None:
            raise Closed(CloseCode.ALREADY_AUTHENTICATED)
        self._authenticate(payload)
        self._prune()
        session = self.sessions.get(payload["session_id"])
        if session is None or session.since(payload["seq"]) is None:
            self._forget_session(connection)
            return
        self.resumes += 1
        if session.connection is not None:
            session.connection.drop()
        self._attach(connection, session, seq=payload["seq"])
        session.dispatch("RESUMED", {}, self._world.discord)

    def _attach(self, connection: Connection, session: Session, *, seq: int) -> None:
        connection.session, connection.sent = session, seq
        session.connection = connection
        connection.wake.set()
        self._on_presence(self.online)

    def _authenticate(self, payload: dict[str, Any]) -> None:
        if str(payload.get("token")).removeprefix("Bot ") != self.terms.token:
            raise Closed(CloseCode.AUTHENTICATION_FAILED)

    def _intents(self, payload: dict[str, Any]) -> Intents:
        value = payload.get("intents")
        if not isinstance(value, int) or value & ~Intents.all().value:
            raise Closed(CloseCode.INVALID_INTENTS)
        intents = Intents.none()
        intents.value = value
        if missing_privileged_intents(intents, self.terms.approved):
            raise Closed(CloseCode.DISALLOWED_INTENTS)
        return intents

    def _granted(self, shard: int) -> bool:
        bucket, now = shard % self.terms.max_concurrency, time.monotonic()
        last = self._identified.get(bucket)
        if last is not None and now - last < self.terms.identify_interval:
            return False
        self._identified[bucket] = now
        return True

    def _prune(self) -> None:
        now = time.monotonic()
        for session in list(self.sessions.values()):
            if session.connection is None and now - session.detached_at > RESUMABLE:
                del self.sessions[session.id]
