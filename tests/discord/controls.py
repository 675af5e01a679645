"""Drive a sandbox through its control API, as operators and the page do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from sandbox import Sandbox


class Control:
    """Call the control API."""

    def __init__(self, session: aiohttp.ClientSession, sandbox: Sandbox) -> None:
        self.session = session
        self.sandbox = sandbox

    async def call(self, method: str, path: str, body: object = None, *, status: int = 200) -> Any:  # noqa: ANN401 - any JSON
        """Send JSON; answer the JSON that came back with the expected status."""
        async with self.session.request(method, f"/control{path}", json=body) as answer:
            given = await answer.json()
            assert answer.status == status, given
            return given

    async def error(self, method: str, path: str, body: object = None, *, status: int = 400) -> str:
        """Send what is refused; answer the one line that says why."""
        given = await self.call(method, path, body, status=status)
        assert list(given) == ["error"]
        assert "\n" not in given["error"]
        return str(given["error"])


@asynccontextmanager
async def controlled(shards: int = 1) -> AsyncIterator[Control]:
    """Run a sandbox with somebody at its controls."""
    async with Sandbox(shards=shards) as sandbox, aiohttp.ClientSession(sandbox.page) as session:
        yield Control(session, sandbox)


async def places(control: Control) -> tuple[str, str, str]:
    """Answer the ids of #general, Ada and Bo."""
    world = await control.call("GET", "/world")
    ada, bo, _ = (person["id"] for person in world["users"])
    return world["guilds"][0]["channels"][0]["id"], ada, bo
