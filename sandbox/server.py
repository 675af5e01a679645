"""Start and stop the whole sandbox: one server on one loopback port."""

import asyncio
import secrets
import socket
from base64 import urlsafe_b64encode
from collections.abc import Callable
from types import TracebackType
from typing import Self

from aiohttp import web
from discord import Intents

from sandbox.acting import Acting
from sandbox.backend import APPLICATION_ID
from sandbox.control import control_routes
from sandbox.faults import Faults
from sandbox.feed import Feed
from sandbox.forms import clear_refusals
from sandbox.gateway import Gateway
from sandbox.guard import only_this_machine
from sandbox.interactions import Interactions
from sandbox.limits import DISCORD, UNLIMITED, Buckets, Limits
from sandbox.log import RequestLog
from sandbox.operating import Operating
from sandbox.pages import Pages, always_fresh
from sandbox.protocol import Terms
from sandbox.rest import Rest
from sandbox.supervision import Supervisor
from sandbox.wire import PREFIX
from sandbox.world import World

HOST = "127.0.0.1"

REQUEST_BYTES = 25 * 1024 * 1024
"""Bytes in the largest request, as on Discord; to the control API files come in base64."""

SHUTDOWN = 1.0
"""Seconds that a request under way may still take when the server stops."""


class Sandbox:
    """
    Be Discord on this machine for as long as the context lasts.

    `port` 0 takes any free one. `shards` and `max_concurrency` are what the gateway recommends to
    the bot; `identify_interval` (seconds, 5 on Discord) makes it refuse identifies that come too
    fast. `approved` are the intents switched on in the developer portal. `limits` are off unless
    given. `heartbeat` is in seconds. An `OSError` says that the port is taken.

    Within the context `world` acts as people, `interactions` uses commands and buttons, `faults`
    and `connections` (the gateway) go wrong on demand, `log` has the bot's requests, `feed` the
    page's events. Who runs the bot beside it sets `supervisor`.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        shards: int = 1,
        max_concurrency: int = 16,
        identify_interval: float = 0.0,
        heartbeat: float = 41.25,
        limits: Limits = UNLIMITED,
        approved: Intents | None = None,
        application_id: int = APPLICATION_ID,
    ) -> None:
        self.application_id = application_id
        self.token = make_token(application_id)
        self.supervisor: Supervisor | None = None
        self.log = RequestLog()
        self.faults = Faults()
        self._port = port
        self._limits = limits
        self._terms = Terms(
            token=self.token,
            shards=shards,
            max_concurrency=max_concurrency,
            identify_interval=identify_interval,
            heartbeat=heartbeat,
            approved=Intents.all() if approved is None else approved,
        )

    async def __aenter__(self) -> Self:
        """Listen, and build the default world."""
        # Bound first, because the world's files have addresses with the port in them.
        listening = socket.create_server((HOST, self._port))
        self._host = f"{HOST}:{listening.getsockname()[1]}"
        try:
            self._runner = web.AppRunner(self._build(), access_log=None, shutdown_timeout=SHUTDOWN)
            await self._runner.setup()
            await web.SockSite(self._runner, listening).start()
        except BaseException:
            listening.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every socket and wait for every task."""
        self.feed.close()
        await self.connections.close()
        await self._requests.close()
        await self._runner.cleanup()

    @property
    def api(self) -> str:
        """The address to use as discord.py's `Route.BASE`."""
        return f"http://{self._host}{PREFIX}"

    @property
    def gateway(self) -> str:
        """The address to use as discord.py's `DiscordWebSocket.DEFAULT_GATEWAY`."""
        return f"ws://{self._host}/gateway"

    @property
    def page(self) -> str:
        """The address to open in a browser."""
        return f"http://{self._host}/"

    def _build(self) -> web.Application:
        self.world = World(
            application_id=self.application_id,
            application_flags=self._terms.application_flags,
            shards=self._terms.shards,
            cdn_base=f"{self.page}cdn",
        )
        self.feed = Feed(self.world)
        self.interactions = Interactions(self.world)
        self.connections = Gateway(
            self.world,
            self._terms,
            url=self.gateway,
            on_presence=lambda online: self.feed.publish("bot", online=online),
        )
        app = web.Application(
            middlewares=[clear_refusals, only_this_machine], client_max_size=REQUEST_BYTES
        )
        self._requests = rest = self._rest()
        control = control_routes(self._acting(), self._operating())
        app.router.add_route("*", PREFIX + "/{path:.*}", rest.respond)
        app.router.add_get("/gateway", self.connections.connect)
        # discord.js and others put a slash before the query.
        app.router.add_get("/gateway/", self.connections.connect)
        app.router.add_routes([*control, *Pages(self.world).routes()])
        app.on_response_prepare.append(always_fresh)
        return app

    def _rest(self) -> Rest:
        return Rest(
            self.world,
            token=self.token,
            gateway=self.connections.info,
            buckets=Buckets(self._limits),
            faults=self.faults,
            interactions=self.interactions,
            feed=self.feed,
            log=self.log,
        )

    def _acting(self) -> Acting:
        return Acting(
            self.world,
            gateway=self.connections,
            interactions=self.interactions,
            feed=self.feed,
        )

    def _operating(self) -> Operating:
        return Operating(
            self.world,
            gateway=self.connections,
            faults=self.faults,
            feed=self.feed,
            log=self.log,
            addresses={
                "api": self.api,
                "gateway": self.gateway,
                "page": self.page,
                "token": self.token,
            },
            supervisor=lambda: self.supervisor,
        )


def make_token(application_id: int) -> str:
    """Make a token in Discord's form, whose first part libraries decode to the application's id."""
    head = urlsafe_b64encode(str(application_id).encode()).decode().rstrip("=")
    return f"{head}.{secrets.token_urlsafe(4)}.{secrets.token_urlsafe(28)}"


async def serve(port: int, *, announce: Callable[[Sandbox], None]) -> None:
    """
    Serve a sandbox with Discord's limits until cancelled; `announce` is called once it listens.

    An `OSError` says that the port is taken.
    """
    async with Sandbox(port, limits=DISCORD) as sandbox:
        announce(sandbox)
        await asyncio.Event().wait()
