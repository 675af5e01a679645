"""Serve what the control API offers to watch, to break, and to run the bot."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from aiohttp import web

from sandbox import bodies
from sandbox.faults import Fault, Faults
from sandbox.feed import Feed
from sandbox.forms import answer, parse, queried, read, read_json
from sandbox.gateway import Gateway
from sandbox.log import RequestLog
from sandbox.supervision import Supervisor
from sandbox.views import world_view
from sandbox.world import World

ALIVE = 15.0
"""Seconds between signs of life on an event stream; without them a closed page is not noticed."""


class Operating:
    """Turn requests into faults, listings and streams. The routes are described in `control`."""

    def __init__(
        self,
        world: World,
        *,
        gateway: Gateway,
        faults: Faults,
        feed: Feed,
        log: RequestLog,
        addresses: dict[str, str],
        supervisor: Callable[[], Supervisor | None],
    ) -> None:
        self._world = world
        self._gateway = gateway
        self._faults = faults
        self._feed = feed
        self._log = log
        self._addresses = addresses
        self._supervisor = supervisor

    async def show_world(self, request: web.Request) -> web.Response:
        """Answer everything but the messages."""
        bot = {
            "online": self._gateway.online,
            "supervised": self._supervisor() is not None,
            "identifies": self._gateway.identifies,
            "resumes": self._gateway.resumes,
        }
        world = world_view(self._world)
        return answer({**self._addresses, **world, "bot": {**world["bot"], **bot}})

    async def show_log(self, request: web.Request) -> web.Response:
        """Answer the bot's requests."""
        return answer([asdict(entry) for entry in self._log.since(queried(request, "since") or 0)])

    async def list_faults(self, request: web.Request) -> web.Response:
        """Answer the faults in force."""
        return answer([_fault_view(fault) for fault in self._faults.active])

    async def add_fault(self, request: web.Request) -> web.Response:
        """Make requests or connections go wrong."""
        given = await read_json(request)
        if "gateway" in given:
            self._break_gateway(parse(bodies.GatewayFault, given))
            return answer({})
        wanted = parse(bodies.RequestFault, given)
        fault = Fault(
            method=wanted.match.method,
            path=wanted.match.path,
            **wanted.model_dump(exclude={"match"}),
        )
        self._faults.add(fault)
        return answer(_fault_view(fault))

    def _break_gateway(self, fault: bodies.GatewayFault) -> None:
        match fault.gateway:
            case "drop":
                self._gateway.drop(fault.shard)
            case "invalid_session":
                self._gateway.invalidate(fault.shard)
            case "reconnect":
                self._gateway.reconnect(fault.shard)
            case "silence":
                self._gateway.silence(fault.shard)
            case "swallow":
                self._gateway.swallow(fault.seconds)
            case "refuse":
                self._gateway.refuse(fault.seconds)

    async def clear_faults(self, request: web.Request) -> web.Response:
        """Let everything succeed again."""
        self._faults.clear()
        self._gateway.mend()
        return answer({})

    async def show_gateway(self, request: web.Request) -> web.Response:
        """Answer what the bot is told of the gateway."""
        return answer(self._gateway_view())

    async def change_gateway(self, request: web.Request) -> web.Response:
        """Change what the gateway grants."""
        terms = await read(request, bodies.GatewayTerms)
        self._gateway.starts.change(**terms.model_dump())
        return answer(self._gateway_view())

    def _gateway_view(self) -> dict[str, Any]:
        told = self._gateway.info()
        return {**told, "identify_interval": self._gateway.starts.interval}

    async def expire_files(self, request: web.Request) -> web.Response:
        """Let the addresses of all files expire."""
        self._world.discord.files.expire()
        return answer({})

    async def block_words(self, request: web.Request) -> web.Response:
        """Let AutoMod block words."""
        self._world.block_words((await read(request, bodies.BlockedWords)).words)
        return answer({})

    async def show_bot(self, request: web.Request) -> web.Response:
        """Answer what is known of the bot's process."""
        supervisor = self._supervisor()
        status: dict[str, Any] = {} if supervisor is None else dict(await supervisor.status())
        return answer(
            {**status, "online": self._gateway.online, "supervised": supervisor is not None}
        )

    async def crash(self, request: web.Request) -> web.Response:
        """Kill the bot's process."""
        await self._require_supervisor().crash()
        return await self.show_bot(request)

    async def restart(self, request: web.Request) -> web.Response:
        """Start the bot's process anew."""
        await self._require_supervisor().restart()
        return await self.show_bot(request)

    def _require_supervisor(self) -> Supervisor:
        supervisor = self._supervisor()
        if supervisor is None:
            text = "nothing here supervises the bot; `interlock` without a token does"
            raise web.HTTPConflict(text=text)
        return supervisor

    async def stream_events(self, request: web.Request) -> web.StreamResponse:
        """Stream events until the page or the server closes."""
        stream = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await stream.prepare(request)
        # A page that was closed is noticed by writing to it, and is no error.
        with self._feed.subscribed() as waiting, suppress(ConnectionResetError):
            while True:
                try:
                    async with asyncio.timeout(ALIVE):
                        event = await waiting.get()
                except TimeoutError:
                    await stream.write(b": alive\n\n")
                    continue
                if event is None:
                    break
                await stream.write(f"data: {event}\n\n".encode())
        return stream


def _fault_view(fault: Fault) -> dict[str, Any]:
    fields = asdict(fault)
    match = {"method": fields.pop("method"), "path": fields.pop("path")}
    return {"match": match, "global": fields.pop("everything"), **fields}
