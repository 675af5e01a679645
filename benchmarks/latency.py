"""
How much later we begin to answer than a bot that just answers.

Both are processes of their own, each on a sandbox of its own in this one; they are asked in turns.
The clock starts when the gateway's MESSAGE_CREATE is about to be sent and stops when the request
that creates the first message arrives.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import Measurement, Row, Unavailable
from benchmarks.plan import Plan
from benchmarks.server import running_redis
from sandbox import Sandbox

#: The store that the bot has without settings.
_DEFAULT = "sqlite"

_BARE = ("-m", "benchmarks.answering")
_OURS = ("-m", "bot", "run", "--tied")

#: Seconds for an answer, and for one from a bot that may still be starting, asked so often.
_PATIENCE, _TRY, _TRIES = 30.0, 1.0, 30

#: Seconds without a request after which a turn is taken to be over. Relation: longer than the
#: pause between two edits of one message would be in so short a turn.
_QUIET = 0.05

_ROOT = Path(__file__).parents[1]

_SETTINGS = """\
extensions = ["cogs.echo"]

[conversation]
responder = "Echo"

[limits]
person_turns_per_minute = 1000
owner_turns_per_day = 1000000

[log]
level = "error"

[state]
url = "{url}"
"""


@dataclass(slots=True)
class Bot:
    """A running bot and the Discord that it alone is on."""

    name: str
    sandbox: Sandbox
    process: asyncio.subprocess.Process
    #: What it writes to its standard error.
    errors: Path
    #: Set when a message of the bot's is there.
    spoken: asyncio.Event = field(default_factory=asyncio.Event)

    async def awake(self) -> None:
        """Address it until it answers: what it is told while it starts may be lost."""
        for _ in range(_TRIES):
            with suppress(TimeoutError):
                await self.answer(_TRY)
                return
            if self.process.returncode is not None:
                break
        told = self.errors.read_text().strip()[-200:] or "it told no error"
        raise RuntimeError(f"the bot {self.name} does not answer: {told}")

    async def answer(self, patience: float = _PATIENCE) -> float:
        """Address it; milliseconds until its first create request came in."""
        world, log = self.sandbox.world, self.sandbox.log
        known = log.number()
        self.spoken.clear()
        text = f"<@{world.discord.bot_user.id}> hello"
        began = time.monotonic()
        world.say(world.channel("general").id, world.person("Bo").id, text)
        async with asyncio.timeout(patience):
            await self.spoken.wait()
        created = next(
            one
            for one in log.since(known)
            if one.method == "POST" and one.path.endswith("/messages")
        )
        await self._quiet()
        return (created.monotonic - began) * 1000

    async def _quiet(self) -> None:
        known = self.sandbox.log.number()
        while True:
            await asyncio.sleep(_QUIET)
            if not self.sandbox.log.since(known):
                return
            known = self.sandbox.log.number()

    def hear(self, event: str, payload: Mapping[str, Any]) -> None:
        """Notice when the bot has spoken."""
        own = str(self.sandbox.world.discord.bot_user.id)
        if event == "MESSAGE_CREATE" and payload["author"]["id"] == own:
            self.spoken.set()


async def measure(plan: Plan) -> list[Row]:
    """Ask the bare bot and ours, on a file and on Redis, in turns."""
    async with AsyncExitStack() as open_now:
        folder = Path(
            open_now.enter_context(tempfile.TemporaryDirectory(prefix="interlock-bench-"))
        )
        urls = {_DEFAULT: f"sqlite:{folder}/state.db"}
        with suppress(Unavailable):
            urls["redis"] = open_now.enter_context(running_redis(durable=True)).url
        bots = [await open_now.enter_async_context(_running("bare", _BARE, folder))]
        for name, url in urls.items():
            settings = folder / f"{name}.toml"
            settings.write_text(_SETTINGS.format(url=url))
            command = [*_OURS, "--config", str(settings)]
            bots.append(await open_now.enter_async_context(_running(name, command, folder)))
        rounds = [await _round(bots, plan.answered) for _ in range(plan.rounds)]
    return list(_rows(rounds))


async def _round(bots: Sequence[Bot], messages: int) -> dict[str, list[float]]:
    """Ask every bot so often, each time starting with another one."""
    taken: dict[str, list[float]] = {bot.name: [] for bot in bots}
    for number in range(messages):
        start = number % len(bots)
        for bot in [*bots[start:], *bots[:start]]:
            taken[bot.name].append(await bot.answer())
    return taken


def _rows(rounds: Sequence[Mapping[str, Sequence[float]]]) -> Iterator[Row]:
    for name in rounds[0]:
        taken = [one[name] for one in rounds]
        yield Measurement(f"latency.{name}.ms", "ms", [statistics.median(one) for one in taken])
        yield Measurement(f"latency.{name}.p99_ms", "ms", [_p99(one) for one in taken])
    for name in rounds[0].keys() - {"bare"}:
        added = [
            [ours - bare for ours, bare in zip(one[name], one["bare"], strict=True)]
            for one in rounds
        ]
        of = "latency" if name == _DEFAULT else f"latency.{name}"
        yield Measurement(f"{of}.added_ms", "ms", [statistics.median(one) for one in added])
        yield Measurement(f"{of}.added_p99_ms", "ms", [_p99(one) for one in added])


def _p99(taken: Sequence[float]) -> float:
    """Of so few that none is beyond, the largest."""
    return sorted(taken)[min(len(taken) - 1, len(taken) * 99 // 100)]


@asynccontextmanager
async def _running(name: str, command: Sequence[str], folder: Path) -> AsyncIterator[Bot]:
    """Run a bot on a sandbox of its own until the block ends; it has answered once by then."""
    errors = folder / f"{name}.log"
    async with Sandbox() as sandbox:
        with errors.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, *command),
                *("--discord-api", sandbox.api, "--discord-gateway", sandbox.gateway),
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(_ROOT), "INTERLOCK_TOKEN": sandbox.token},
                stdin=asyncio.subprocess.PIPE,
                stderr=log,
            )
        bot = Bot(name, sandbox, process, errors)
        sandbox.world.listeners.append(bot.hear)
        try:
            await bot.awake()
            yield bot
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
