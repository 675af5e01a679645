"""`interlock` alone: sandbox and bot as two processes, and the promise that anyone can see kept."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from bot import texts
from tests.discord.bots import LEASE, ROOT, START
from tests.waiting import wait_until


@asynccontextmanager
async def supervised(folder: Path, **environment: str) -> AsyncIterator[str]:
    """Run `interlock` without a token in *folder*; answer the page's address that it prints."""
    given = {
        **os.environ,
        "INTERLOCK_STATE__LEASE": f"{LEASE:g}s",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "80",
        **environment,
    }
    printed = folder / "terminal"
    with printed.open("w") as terminal:
        both = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "--port", "0", cwd=folder, env=given, stdout=terminal
        )
    try:
        found = await wait_until(
            lambda: re.search(r"http://127\.0\.0\.1:\d+", printed.read_text()),
            timeout=START,
            description="the page's address",
        )
        assert found
        yield found[0]
        both.terminate()
        assert await both.wait() == 0
    finally:
        if both.returncode is None:
            both.kill()
        await both.wait()


class Page:
    """What the page of a sandbox in another process does: people speak, the bot is crashed."""

    def __init__(self, session: aiohttp.ClientSession, world: dict[str, Any]) -> None:
        self._session = session
        [guild] = world["guilds"]
        self._channel = next(one["id"] for one in guild["channels"] if one["name"] == "general")
        self._people = {one["name"]: one["id"] for one in world["users"]}
        self._bot = world["bot"]["id"]

    async def _ask(self, method: str, path: str, **json: str) -> Any:  # noqa: ANN401 (any JSON)
        async with self._session.request(method, f"/control/{path}", json=json) as response:
            assert response.ok, await response.text()
            return await response.json()

    async def say(self, person: str, text: str) -> None:
        """Say something to the bot."""
        said = {"channel_id": self._channel, "user_id": self._people[person]}
        await self._ask("POST", "messages", **said, content=f"<@{self._bot}> {text}")

    async def messages(self) -> list[dict[str, Any]]:
        """All messages, oldest first."""
        return list(await self._ask("GET", f"channels/{self._channel}/messages"))

    async def replies(self) -> list[tuple[str, str]]:
        """The bot's messages as (id, text)."""
        every = await self.messages()
        return [(one["id"], one["content"]) for one in every if one["author"]["id"] == self._bot]

    async def somebody_waits(self) -> bool:
        """Whether there is an hourglass."""
        every = await self.messages()
        return any(mark["emoji"] == texts.WAITING for one in every for mark in one["reactions"])

    async def press(self, button: str) -> None:
        """Press "crash" or "restart"."""
        await self._ask("POST", f"bot/{button}")

    async def online(self) -> bool:
        """Whether the bot is there."""
        return bool((await self._ask("GET", "bot"))["online"])


async def test_interlock_alone_keeps_its_promise_by_the_pages_buttons(tmp_path: Path) -> None:
    """Crashed in the middle of a reply and restarted: the same message is written to its end."""
    async with supervised(tmp_path) as address, aiohttp.ClientSession(address) as session:
        async with session.get("/control/world") as response:
            page = Page(session, await response.json())
        await wait_until(page.online, timeout=START, description="the bot is online")
        await page.say("Ada", "count to 6 slowly")
        [(begun, _)] = await wait_until(page.replies, description="the stream")
        await page.say("Bo", "count to 2")
        await wait_until(page.somebody_waits, description="an hourglass")

        await page.press("crash")
        assert not await page.online()
        assert len(await page.replies()) == 1
        await page.press("restart")

        async def answered() -> bool:
            return [text for _, text in await page.replies()] == ["1 2 3 4 5 6", "1 2"]

        await wait_until(answered, timeout=LEASE + START, description="both are answered")
        assert (await page.replies())[0][0] == begun
        assert not await page.somebody_waits()
