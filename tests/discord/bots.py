"""Run the whole bot against a sandbox, in this process or as a process of its own."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.client import Interlock, point_at
from bot.config import Settings
from sandbox import Sandbox
from sandbox.log import Entry
from sandbox.world import World
from state import State, connect
from tests.waiting import wait_until

#: Cogs that need nothing else.
EXTENSIONS = ("cogs.echo", "cogs.demo", "cogs.control", "cogs.follow")

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def running(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, state: State | None = None, **tables: object
) -> AsyncIterator[Interlock]:
    """Run the bot in this process, on a store in memory unless *state* is given (and opened)."""
    monkeypatch.setattr(Route, "BASE", Route.BASE)
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", DiscordWebSocket.DEFAULT_GATEWAY)
    point_at(sandbox.api, sandbox.gateway)
    settings = Settings.model_validate({"extensions": EXTENSIONS, **tables})
    store = state or connect("memory:")
    if state is None:
        await store.open()
    async with Interlock(settings, store) as bot:
        # READY waits for guilds as long as two seconds by default; there is one, and it is there.
        bot._connection.guild_ready_timeout = 0.02
        await bot.load()
        life = asyncio.create_task(bot.live(sandbox.token))
        try:
            await wait_until(lambda: bot.is_ready() or life.done(), description="READY")
            if life.done():
                await life
            yield bot
        finally:
            bot.end()
            await life
            if state is None:
                await store.close()


@asynccontextmanager
async def process(
    sandbox: Sandbox, state_url: str, folder: Path, **environment: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the bot as a process of its own; it is killed at the end if it still runs."""
    given: Mapping[str, str] = {
        **os.environ,
        "INTERLOCK_TOKEN": sandbox.token,
        "INTERLOCK_DISCORD__API": sandbox.api,
        "INTERLOCK_DISCORD__GATEWAY": sandbox.gateway,
        "INTERLOCK_STATE__URL": state_url,
        "INTERLOCK_STATE__LEASE": "3s",
        "PYTHONPATH": str(ROOT),
        **environment,
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "run", cwd=folder, env=given
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


class Room:
    """One channel of a sandbox, as a test speaks and reads in it."""

    def __init__(self, sandbox: Sandbox, channel: str = "general") -> None:
        self.world: World = sandbox.world
        self.sandbox = sandbox
        self.id: int = self.world.channel(channel).id

    def say(self, person: str, text: str, *, addressed: bool = True) -> int:
        """Say something, mentioning the bot unless told otherwise; the message's id."""
        mention = f"<@{self.sandbox.application_id}> " if addressed else ""
        return int(self.world.say(self.id, self.world.person(person).id, mention + text).id)

    def replies(self) -> list[str]:
        """What the bot's messages say, oldest first."""
        mine = self.sandbox.application_id
        return [m.content for m in self.world.messages(self.id) if str(m.author_id) == str(mine)]

    async def until_replies(self, *endings: str, timeout: float = 10.0) -> list[str]:
        """Wait until there are as many replies as *endings* and each ends so; answer them."""

        def there() -> list[str] | None:
            replies = self.replies()
            fits = len(replies) == len(endings) and all(
                reply.endswith(ending) for reply, ending in zip(replies, endings, strict=True)
            )
            return replies if fits else None

        try:
            found = await wait_until(there, timeout=timeout, description=f"replies {endings}")
        except AssertionError as error:
            raise AssertionError(f"{error}; there are {self.replies()}") from None
        return found or []

    def requests(self, method: str, path: str) -> list[Entry]:
        """The bot's requests of that method whose path ends so."""
        return [
            r for r in self.sandbox.log.since(0) if r.method == method and r.path.endswith(path)
        ]
