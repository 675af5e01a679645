"""Run the whole bot against a sandbox, in this process or as a process of its own."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from simcord.backend.models import Message

from bot.client import Interlock
from bot.config import Settings
from bot.testing import sandboxed
from sandbox import Sandbox
from sandbox.log import Entry
from sandbox.world import World
from state import State, connect
from tests.waiting import PATIENCE, wait_until

#: Cogs that need nothing else.
EXTENSIONS = ("cogs.echo", "cogs.demo", "cogs.control", "cogs.follow", "cogs.ask")

ROOT = Path(__file__).parents[2]

#: The command line of a process.
RUN = (sys.executable, "-m", "bot", "run")

#: Seconds that a lease of a process lives: the shortest that the settings allow.
LEASE = 3.0

#: Seconds for a process to come online: most of it are imports, and the machine may be busy.
START = 20.0


@asynccontextmanager
async def running(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, state: State | None = None, **tables: object
) -> AsyncIterator[Interlock]:
    """Run the bot in this process, on a store in memory unless *state* is given (and opened)."""
    settings = Settings.model_validate({"extensions": EXTENSIONS, **tables})
    store = state or connect("memory:")
    at = {"token": sandbox.token, "api": sandbox.api, "gateway": sandbox.gateway}
    try:
        if state is None:
            await store.open()
        async with sandboxed.running(settings, store, **at) as bot:
            yield bot
    finally:
        if state is None:
            await store.close()


@asynccontextmanager
async def process(
    sandbox: Sandbox, folder: Path, *words: str, **environment: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """
    Run the bot as a process of its own, in *folder*; it is killed at the end if it still runs.

    *words* follow `run` on its command line. Its store is `interlock.db` there unless *environment*
    or a settings file says otherwise; its leases live for `LEASE`.
    """
    child = await asyncio.create_subprocess_exec(
        *RUN, *words, cwd=folder, env=_environment(sandbox, environment)
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def refused(sandbox: Sandbox, folder: Path, **environment: str) -> str:
    """Start a process that exits with 2 after one line on standard error; answer the line."""
    quiet = {"INTERLOCK_LOG__LEVEL": "warning", **environment}
    child = await asyncio.create_subprocess_exec(
        *RUN, cwd=folder, env=_environment(sandbox, quiet), stdout=PIPE, stderr=PIPE
    )
    out, err = await child.communicate()
    assert (child.returncode, out) == (2, b""), err.decode()
    [line] = err.decode().splitlines()
    return line


def _environment(sandbox: Sandbox, given: Mapping[str, str]) -> dict[str, str]:
    return {
        **os.environ,
        "INTERLOCK_TOKEN": sandbox.token,
        "INTERLOCK_DISCORD__API": sandbox.api,
        "INTERLOCK_DISCORD__GATEWAY": sandbox.gateway,
        "INTERLOCK_STATE__LEASE": f"{LEASE:g}s",
        "PYTHONPATH": str(ROOT),
        **given,
    }


async def online(sandbox: Sandbox, count: int = 1) -> None:
    """Wait until exactly *count* processes of the bot hear what is said."""

    def there() -> bool:
        sessions = sandbox.connections.sessions.values()
        return sum(session.connection is not None for session in sessions) == count

    await wait_until(there, timeout=START, description=f"{count} bots are online")


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

    async def until_marked(self, message: int, *emoji: str) -> None:
        """Wait until exactly these reactions are on a message."""

        def there() -> bool:
            marks = self.world.find_message(message).reactions
            return [str(mark.emoji) for mark in marks] == list(emoji)

        await wait_until(there, description=f"the marks {emoji}")

    def own(self) -> list[Message]:
        """The bot's messages, oldest first."""
        bot = self.world.discord.bot_user.id
        return [message for message in self.world.messages(self.id) if message.author_id == bot]

    def replies(self) -> list[str]:
        """What the bot's messages say, oldest first."""
        return [message.content for message in self.own()]

    async def until_replies(self, *endings: str, timeout: float = PATIENCE) -> list[str]:
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
