"""
What streaming asks of Discord and of the processor, while Discord enforces its limits.

Each reply is as long as a plan says, in chunks of a few characters, as quickly as a model writes.
All are asked for at once, each in a channel of its own.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchmarks.bots import OURS, Bot, running_bot
from benchmarks.measure import Measurement, Row
from benchmarks.plan import Plan
from sandbox.limits import DISCORD
from sandbox.log import Entry

_SETTINGS = """\
extensions = ["benchmarks.actors"]

[conversation]
responder = "Actor"
max_pages = 50

[limits]
owner_turns_per_day = 1000000

[log]
level = "error"
"""

#: Characters in a chunk, and seconds between two: 400 characters a second, a quick model.
_CHUNK, _EVERY = 8, 0.02

#: Seconds from the start in which a refusal teaches what the limits are.
_WARM_UP = 5.0

#: Seconds for all replies to be complete after the last chunk. Relation: at fifty requests a
#: second, a hundred replies of six messages take a fifth of it.
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Streamed:
    """What so many replies at once took."""

    chunks: int
    characters: int
    requests: int
    #: Requests that were answered with 429 after the warm-up.
    refused: int
    #: Replies whose messages joined are not the text.
    incomplete: int
    processor_seconds: float


async def measure(plan: Plan) -> list[Row]:
    """Stream to so many channels at once, for each width in turn."""
    rooms = count()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as folder:
        settings = Path(folder) / "interlock.toml"
        settings.write_text(_SETTINGS)
        command = [*OURS, "--config", str(settings)]
        for width in plan.streams:
            async with running_bot(f"{width}", command, Path(folder), DISCORD) as bot:
                runs = [
                    await _stream(bot, width, plan.characters, rooms) for _ in range(plan.streamed)
                ]
            rows += _rows(width, runs)
    return rows


async def _stream(bot: Bot, width: int, characters: int, rooms: "count[int]") -> Streamed:
    world, log = bot.sandbox.world, bot.sandbox.log
    channels = [world.add_channel(world.guild.id, f"room-{next(rooms)}").id for _ in range(width)]
    chunks = characters // _CHUNK
    text = "".join(f"{number}".rjust(_CHUNK - 1, "x") for number in range(chunks))
    known, spent, began = log.number(), bot.processor_seconds, time.monotonic()
    entries: list[Entry] = []
    for number, channel in enumerate(channels):
        asker = world.add_person(f"Person {number}").id
        order = f"<@{world.discord.bot_user.id}> write {chunks} {_CHUNK} {_EVERY}"
        world.say(channel, asker, order)
    waits_until = began + chunks * _EVERY + _PATIENCE
    while time.monotonic() < waits_until and any(_over(bot, one) != text for one in channels):
        await asyncio.sleep(0.2)
        fresh = log.since(known)  # read often: the log keeps a bounded number
        known = fresh[-1].seq if fresh else known
        entries += fresh
    return Streamed(
        chunks * width,
        chunks * _CHUNK * width,
        len(entries),
        sum(one.status == 429 and one.monotonic > began + _WARM_UP for one in entries),
        sum(_over(bot, channel) != text for channel in channels),
        bot.processor_seconds - spent,
    )


def _over(bot: Bot, channel: int) -> str | None:
    """
    The text of a reply that is over: nothing under it stops it any more.

    Without its spaces, of which Discord takes those at both ends of a message away.
    """
    own = bot.sandbox.world.discord.bot_user.id
    pages = [one for one in bot.sandbox.world.messages(channel) if one.author_id == own]
    if any(page.components for page in pages):
        return None
    return "".join("".join(page.content.split()) for page in pages)


def _rows(width: int, runs: Sequence[Streamed]) -> Iterator[Row]:
    of = f"streaming.{width}"
    each = [run.requests * 10_000 / run.characters for run in runs]
    yield Measurement(f"{of}.requests_per_10000", "requests", each)
    yield Measurement(f"{of}.refused", "requests", [run.refused for run in runs])
    yield Measurement(f"{of}.incomplete", "replies", [run.incomplete for run in runs])
    spent = [run.processor_seconds * 1e6 / run.chunks for run in runs]
    yield Measurement(f"{of}.cpu_ms_per_1000_chunks", "ms", spent)
