"""Keep other web sites out: what a browser on this machine loads can reach loopback too."""

from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web

Respond = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def only_this_machine(request: web.Request, handler: Respond) -> web.StreamResponse:
    """Refuse foreign host names (rebound DNS) and foreign origins (another site's script)."""
    if not is_loopback(request.host):
        raise web.HTTPForbidden(text="the sandbox answers to localhost and 127.0.0.1 only")
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        raise web.HTTPForbidden(text=f"the sandbox takes nothing from {origin}")
    return await handler(request)


def is_loopback(host: str) -> bool:
    """Tell whether a `Host` header, with or without a port, names this machine."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
