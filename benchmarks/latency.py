"""
How much later we begin to answer than a bot that just answers.

Both are processes of their own, each on a sandbox of its own in this one; they are asked in turns.
The clock starts when the gateway's MESSAGE_CREATE is about to be sent and stops when the request
that creates the first message arrives.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bots import OURS, Bot, running_bot
from benchmarks.measure import Measurement, Row, Unavailable, p99
from benchmarks.plan import Plan
from benchmarks.server import running_redis

#: The store that the bot has without settings.
_DEFAULT = "sqlite"

_BARE = ("-m", "benchmarks.answering")

#: Seconds for an answer.
_PATIENCE = 30.0

#: Seconds without a request after which a turn is taken to be over. Relation: longer than the
#: pause between two edits of one message would be in so short a turn.
_QUIET = 0.05

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
class Asked:
    """A bot that is asked again and again."""

    bot: Bot
    #: Set when a message of the bot's is there.
    spoken: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self) -> float:
        """Address it; milliseconds until its first create request came in."""
        world, log = self.bot.sandbox.world, self.bot.sandbox.log
        known = log.number()
        self.spoken.clear()
        text = f"<@{world.discord.bot_user.id}> hello"
        began = time.monotonic()
        world.say(world.channel("general").id, world.person("Bo").id, text)
        async with asyncio.timeout(_PATIENCE):
            await self.spoken.wait()
        created = next(
            one
            for one in log.since(known)
            if one.method == "POST" and one.path.endswith("/messages")
        )
        await self._quiet()
        return (created.monotonic - began) * 1000

    async def _quiet(self) -> None:
        known = self.bot.sandbox.log.number()
        while True:
            await asyncio.sleep(_QUIET)
            if not self.bot.sandbox.log.since(known):
                return
            known = self.bot.sandbox.log.number()

    def hear(self, event: str, payload: Mapping[str, Any]) -> None:
        """Notice when the bot has spoken."""
        own = str(self.bot.sandbox.world.discord.bot_user.id)
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
        bots = [await open_now.enter_async_context(_asked("bare", _BARE, folder))]
        for name, url in urls.items():
            settings = folder / f"{name}.toml"
            settings.write_text(_SETTINGS.format(url=url))
            command = [*OURS, "--config", str(settings)]
            bots.append(await open_now.enter_async_context(_asked(name, command, folder)))
        rounds = [await _round(bots, plan.answered) for _ in range(plan.rounds)]
    return list(_rows(rounds))


@asynccontextmanager
async def _asked(name: str, command: Sequence[str], folder: Path) -> AsyncIterator[Asked]:
    """Run a bot until the block ends; it has answered once by then."""
    async with running_bot(name, command, folder) as bot:
        asked = Asked(bot)
        bot.sandbox.world.listeners.append(asked.hear)
        await asked.answer()
        yield asked


async def _round(bots: Sequence[Asked], messages: int) -> dict[str, list[float]]:
    """Ask every bot so often, each time starting with another one."""
    taken: dict[str, list[float]] = {asked.bot.name: [] for asked in bots}
    for number in range(messages):
        start = number % len(bots)
        for asked in [*bots[start:], *bots[:start]]:
            taken[asked.bot.name].append(await asked.answer())
    return taken


def _rows(rounds: Sequence[Mapping[str, Sequence[float]]]) -> Iterator[Row]:
    for name in rounds[0]:
        taken = [one[name] for one in rounds]
        yield Measurement(f"latency.{name}.ms", "ms", [statistics.median(one) for one in taken])
        yield Measurement(f"latency.{name}.p99_ms", "ms", [p99(one) for one in taken])
    for name in rounds[0].keys() - {"bare"}:
        added = [
            [ours - bare for ours, bare in zip(one[name], one["bare"], strict=True)]
            for one in rounds
        ]
        of = "latency" if name == _DEFAULT else f"latency.{name}"
        yield Measurement(f"{of}.added_ms", "ms", [statistics.median(one) for one in added])
        yield Measurement(f"{of}.added_p99_ms", "ms", [p99(one) for one in added])
