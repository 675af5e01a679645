"""Serve the gateway: identify, heartbeat, resume, and the ways in which a connection goes wrong."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import WSMessage, WSMsgType, web

from sandbox.members import member_chunks
from sandbox.outages import Outage
from sandbox.protocol import (
    CloseCode,
    Closed,
    Identify,
    Members,
    Op,
    Pace,
    Resume,
    Terms,
    parse_frame,
)
from sandbox.sessions import Connection, Session, ready_payload
from sandbox.starts import Starts
from sandbox.world import World

RESUMABLE = 180.0
"""Seconds for which a session without a socket is kept; Discord says "a few minutes"."""

DISTANCE = 0.05
"""
Seconds until a heartbeat is acknowledged, as over a network.

discord.py notes when it sent a heartbeat after it was sent, in another thread. An answer that is
quicker is counted from the heartbeat before, and it warns that it cannot keep up.
"""

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
        self._swallows = Outage(self.unmute)
        self._refuses = Outage(lambda: None)
        self.starts = Starts(terms)
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
            "session_start_limit": self.starts.limit(),
        }

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one socket until it ends."""
        if self._refuses.lasts:
            raise web.HTTPServiceUnavailable
        socket = web.WebSocketResponse(compress=False, timeout=CLOSING)
        await socket.prepare(request)
        connection = Connection(request, socket)
        self._connections.add(connection)
        if self._swallows.lasts:
            connection.cut_off()
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

    # -------------------------------------------------------------------------------------- faults

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
                    self._reject(session.connection)
        self._on_presence(self.online)

    def silence(self, shard: int | None = None) -> None:
        """Send nothing more on the open sockets, not even a heartbeat's acknowledgement."""
        for connection in self._of(shard):
            connection.muted = True

    def unmute(self) -> None:
        """End the silence: what was held back follows, and sockets that lost frames are cut."""
        for connection in self._connections:
            if connection.deaf:
                connection.drop()
            connection.muted = False
            connection.wake.set()

    def swallow(self, seconds: float | None = None) -> None:
        """
        Lose every frame in both directions, also on sockets that open meanwhile.

        They stay open until it is over, and are cut then: a network that came back knows nothing of
        them. Their sessions can be resumed.
        """
        self._swallows.begin(seconds)
        for connection in self._connections:
            connection.cut_off()

    def refuse(self, seconds: float | None = None) -> None:
        """Cut every socket and take no new ones, so that sessions wait to be resumed."""
        self._refuses.begin(seconds)
        self.drop()

    def mend(self) -> None:
        """Let the gateway work again."""
        self._refuses.end()
        self._swallows.end()
        self.unmute()

    async def close(self) -> None:
        """Close every socket."""
        self.mend()
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
        if connection.goodbye:
            self.sessions.pop(session.id, None)
        self._on_presence(self.online)

    def _reject(self, connection: Connection) -> None:
        connection.session = None
        connection.send(Op.INVALID_SESSION, False)  # noqa: FBT003 - the payload is a boolean

    # ----------------------------------------------------------------------------------- listening

    async def _listen(self, connection: Connection) -> None:
        pace = Pace()
        try:
            while True:
                message = await self._next(connection)
                if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    # Only these codes end a session, and only when the client closes first.
                    connection.goodbye = message.data in (1000, 1001)
                    return
                if connection.deaf:
                    continue
                pace.count()
                self._receive(connection, message.data)
        except Closed as end:
            await connection.socket.close(code=end.code, message=end.code.name.encode())
        except TimeoutError:
            await connection.socket.close(code=CloseCode.TIMED_OUT)

    async def _next(self, connection: Connection) -> WSMessage:
        while True:
            try:
                # Twice the interval without a heartbeat is Discord's sign of a dead client.
                return await connection.socket.receive(timeout=2 * self.terms.heartbeat)
            except TimeoutError:
                if not connection.deaf:
                    raise

    def _receive(self, connection: Connection, raw: str | bytes) -> None:
        op, sent = parse_frame(raw)
        session = connection.session
        match sent:
            case Identify():
                self._identify(connection, sent)
            case Resume():
                self._resume(connection, sent)
            case None if op == Op.HEARTBEAT:
                self.heartbeats += 1
                asyncio.get_running_loop().call_later(DISTANCE, connection.send, Op.ACK)
            case _ if session is None:
                raise Closed(CloseCode.NOT_AUTHENTICATED)
            case Members():
                for chunk in member_chunks(self._world.discord, sent):
                    session.dispatch("GUILD_MEMBERS_CHUNK", chunk, self._world.discord)
            case None if op not in (Op.PRESENCE, Op.VOICE):
                # Presences and voices lead nowhere here; the rest only the server may say.
                raise Closed(CloseCode.UNKNOWN_OP)
            case None:
                pass

    # ---------------------------------------------------------------------------- identify, resume

    def _identify(self, connection: Connection, sent: Identify) -> None:
        if connection.session is not None:
            raise Closed(CloseCode.ALREADY_AUTHENTICATED)
        self.terms.authenticate(sent.token)
        shard, count = sent.shard
        if not 0 <= shard < count:
            raise Closed(CloseCode.INVALID_SHARD)
        session = Session(shard=shard, count=count, intents=self.terms.intents(sent.intents))
        if not self.starts.in_time(shard):
            self._reject(connection)
            return
        if not self.starts.spend():
            # Discord ends all sessions then, and takes the token away.
            self.sessions.clear()
            for other in self._connections - {connection}:
                other.drop()
            raise Closed(CloseCode.AUTHENTICATION_FAILED)
        self.identifies += 1
        self._prune()
        self.sessions[session.id] = session
        self._attach(connection, session, seq=0)
        self._welcome(session)

    def _resume(self, connection: Connection, sent: Resume) -> None:
        if connection.session is not None:
            raise Closed(CloseCode.ALREADY_AUTHENTICATED)
        self.terms.authenticate(sent.token)
        self._prune()
        session = self.sessions.get(sent.session_id)
        if session is None or session.since(sent.seq) is None:
            self._reject(connection)
            return
        self.resumes += 1
        if session.connection is not None:
            session.connection.drop()
        self._attach(connection, session, seq=sent.seq)
        session.dispatch("RESUMED", {}, self._world.discord)

    def _welcome(self, session: Session) -> None:
        discord = self._world.discord
        guilds = [one for one in discord.guilds.values() if session.covers(one.id)]
        ready = ready_payload(discord, session, flags=self.terms.application_flags, url=self.url)
        session.dispatch("READY", ready, discord)
        for guild in guilds:
            session.dispatch("GUILD_CREATE", discord.guild_payload(guild), discord)

    def _attach(self, connection: Connection, session: Session, *, seq: int) -> None:
        connection.session, connection.sent = session, seq
        session.connection = connection
        connection.wake.set()
        self._on_presence(self.online)

    def _prune(self) -> None:
        now = time.monotonic()
        for session in list(self.sessions.values()):
            if session.connection is None and now - session.detached_at > RESUMABLE:
                del self.sessions[session.id]
