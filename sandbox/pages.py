"""Serve the page to chat in, and the files that people and the bot have uploaded."""

from pathlib import Path

from aiohttp import web

from sandbox.world import World

FOLDER = Path(__file__).parent / "page"

PROTECTION = {
    # Uploads come from this origin: without these, HTML among them would run as part of the page.
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
}


class Pages:
    """Serve what a browser shows."""

    def __init__(self, world: World, folder: Path = FOLDER) -> None:
        self._world = world
        self._folder = folder

    def routes(self) -> list[web.AbstractRouteDef]:
        """List what is served. A folder that is not there leaves the APIs without a page."""
        routes: list[web.AbstractRouteDef] = [
            web.get("/", self._index),
            web.get("/cdn/{path:.*}", self._upload),
        ]
        return [*routes, web.static("/page", self._folder)] if self._folder.is_dir() else routes

    async def _index(self, request: web.Request) -> web.StreamResponse:
        index = self._folder / "index.html"
        if not index.is_file():
            raise web.HTTPNotFound(text="this sandbox has no page; see /control/world\n")
        return web.FileResponse(index)

    async def _upload(self, request: web.Request) -> web.Response:
        path = request.rel_url.raw_path.removeprefix("/cdn/")
        file = self._world.discord.files.fetch(path, request.query)
        if file is None:
            raise web.HTTPNotFound(text="This content is no longer available.")
        return web.Response(
            body=file.content, headers={**PROTECTION, "Content-Type": file.content_type}
        )


async def always_fresh(request: web.Request, response: web.StreamResponse) -> None:
    """Let browsers ask for the page's files each time, so that an upgrade is seen at once."""
    if request.path == "/" or request.path.startswith("/page/"):
        response.headers.setdefault("Cache-Control", "no-cache")
        response.headers.setdefault("X-Frame-Options", "DENY")
