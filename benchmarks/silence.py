"""
How soon a stop or a kill is obeyed, in every state that a turn can be in.

The bot is a process of its own on a file. Ada asks for a reply that would not end, and ends it as
people do; at the same moment Bo asks. *Silence* begins with the last request for Ada's reply, its
mark included; the conversation is *free* when Bo's reply is there.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from simcord.backend.models import Message

from benchmarks.bots import OURS, Bot, running_bot
from benchmarks.measure import Measurement, Row, p99
from benchmarks.plan import Plan
from sandbox.faults import Fault
from sandbox.log import Entry

_SETTINGS = """\
extensions = ["benchmarks.actors", "cogs.control"]

[conversation]
responder = "Actor"
reactions = false

[limits]
person_turns_per_minute = 1000
owner_turns_per_day = 1000000

[log]
level = "error"
"""

#: Seconds until a state is reached or a reply is there; beyond it something is broken.
_PATIENCE = 30.0

#: Seconds between two looks, and the most by which a stop comes later than the state it meets.
_LOOK, _LATER = 0.002, 0.4

#: Replies that are ended at once. Relation: two cores go on answering at once.
_AT_ONCE = 8

_NEXT = "next"

#: Seconds for which a silence must last to be one. Relation: two edits of a stream lie one apart.
_LASTS = 1.5


@dataclass(frozen=True, slots=True)
class State:
    """A state that a turn can be in: what brings it about, and what befalls Discord meanwhile."""

    asks: str
    #: Whether a reply is there once it is reached.
    speaks: bool = True
    fault: Callable[[str], Fault] | None = None


STATES: Mapping[str, State] = {
    "mute": State("mute", speaks=False),
    "stream": State("stream"),
    "tool": State("tool"),
    "chain": State("chain"),
    "resist": State("resist"),
    "slow_discord": State("stream", fault=lambda path: Fault("PATCH", path, latency=1.0)),
    "limited": State("stream", fault=lambda path: Fault("PATCH", path, 1, retry_after=1.0)),
    "failing": State("stream", fault=lambda path: Fault("PATCH", path, 2, status=502)),
}


@dataclass(frozen=True, slots=True)
class Ended:
    """One reply that was ended: milliseconds until silence, and until the next reply."""

    state: str
    silence: float
    free: float


class Room:
    """A channel of its own for each reply, so that no two meet."""

    def __init__(self, bot: Bot, number: int) -> None:
        """Open it."""
        self._sandbox = bot.sandbox
        world = bot.sandbox.world
        self.id = world.add_channel(world.guild.id, f"room-{number}").id

    def say(self, person: str, text: str) -> None:
        """Say something to the bot."""
        world = self._sandbox.world
        mention = f"<@{world.discord.bot_user.id}> "
        world.say(self.id, world.person(person).id, mention + text)

    async def stop_by_phrase(self) -> None:
        """Say stop, as whoever asked."""
        self.say("Ada", "stop")

    async def stop_by_button(self) -> None:
        """Press the button under the reply; where there is none yet, say it."""
        reply = self.reply()
        if reply is None or not reply.components:
            await self.stop_by_phrase()
            return
        custom_id = reply.components[0]["components"][0]["custom_id"]
        ada = self._sandbox.world.person("Ada").id
        self._sandbox.interactions.press(self.id, ada, reply.id, custom_id, [])

    async def use(self, command: str) -> None:
        """Use a command, as whoever asked, and wait for its answer: a kill drops what waits."""
        ada = self._sandbox.world.person("Ada").id
        record = self._sandbox.interactions.use(self.id, ada, command, {})
        await self._sandbox.interactions.outcome(record)

    def befall(self, fault: Callable[[str], Fault]) -> None:
        """Let Discord misbehave in this channel."""
        self._sandbox.faults.add(fault(f"/channels/{self.id}/*"))

    def reply(self, text: str = "") -> Message | None:
        """The bot's newest message here that holds *text*."""
        bot = self._sandbox.world.discord.bot_user.id
        messages = self._sandbox.world.messages(self.id)
        return next((m for m in messages[::-1] if m.author_id == bot and text in m.content), None)

    def requests(self) -> list[Entry]:
        """The bot's requests about this channel."""
        path = f"/channels/{self.id}/"
        return [entry for entry in self._sandbox.log.since(0) if entry.path.startswith(path)]


WAYS: Mapping[str, Callable[[Room], Awaitable[None]]] = {
    "phrase": Room.stop_by_phrase,
    "button": Room.stop_by_button,
    "stop": lambda room: room.use("stop"),
    "kill": lambda room: room.use("kill"),
}


async def measure(plan: Plan) -> list[Row]:
    """End so many replies, in every state and by every way in turn, some of them at once."""
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as folder:
        settings = Path(folder) / "interlock.toml"
        settings.write_text(_SETTINGS)
        async with running_bot("ours", [*OURS, "--config", str(settings)], Path(folder)) as bot:
            at_once = asyncio.Semaphore(_AT_ONCE)
            cases = list(product(STATES, WAYS))
            ended = await asyncio.gather(
                *(
                    _end(Room(bot, number), *cases[number % len(cases)], at_once)
                    for number in range(plan.ended)
                )
            )
    return list(_rows(ended))


async def _end(room: Room, name: str, way: str, at_once: asyncio.Semaphore) -> Ended:
    state = STATES[name]
    async with at_once:
        room.say("Ada", state.asks)
        reached = room.reply if state.speaks else room.requests
        await _until(lambda: bool(reached()), f"{name} is reached")
        if state.fault is not None:
            room.befall(state.fault)
        await asyncio.sleep(random.uniform(0, _LATER))
        began = time.monotonic()
        await WAYS[way](room)
        room.say("Bo", _NEXT)
        await _until(lambda: room.reply(_NEXT) is not None, f"a reply after {name}, {way}")
        free = time.monotonic()
        last = await _last_request(room, began)
    return Ended(name, (last - began) * 1000, (free - began) * 1000)


async def _last_request(room: Room, began: float) -> float:
    """When the last request for Ada's reply came in; *began* if none did."""
    while True:
        last = max([began, *(entry.monotonic for entry in room.requests() if not _bos(entry))])
        if (left := last + _LASTS - time.monotonic()) <= 0:
            return last
        await asyncio.sleep(left)


def _bos(entry: Entry) -> bool:
    """Whether a request is the one that answers Bo, whose reply is there at once."""
    return isinstance(entry.body, dict) and entry.body.get("content") == _NEXT


async def _until(there: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + _PATIENCE
    while not there():
        if time.monotonic() > ends:
            raise RuntimeError(f"still waiting until {what}")
        await asyncio.sleep(_LOOK)


def _rows(ended: Sequence[Ended]) -> Iterator[Row]:
    for name, taken in (
        ("silence", [one.silence for one in ended]),
        ("free", [one.free for one in ended]),
    ):
        yield Measurement(f"stop.{name}.ms", "ms", taken)
        yield Measurement(f"stop.{name}.p99_ms", "ms", [p99(taken)])
        yield Measurement(f"stop.{name}.worst_ms", "ms", [max(taken)])
    for state in STATES:
        taken = [max(one.silence, one.free) for one in ended if one.state == state]
        if taken:
            yield Measurement(f"stop.{state}.worst_ms", "ms", [max(taken)])
