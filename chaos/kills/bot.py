"""One process of the bot's own core, to be killed: everything but discord.py is the real thing."""

import asyncio
import logging
import os
import random
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from bot.admission import Heard
from bot.config import Place
from bot.core import Core, CoreRules
from bot.door_rules import DoorRules, Mode
from bot.equipment import Rules
from bot.inbound import Message, Person
from bot.rates import Quota
from bot.responders import Responder, Turn
from bot.speech import Limits
from chaos.kills.outside import Outside
from chaos.kills.recorder import recorded
from chaos.kills.steps import Steps
from state import connect
from state.errors import StateUnavailable
from state.values import Claim, Overflow

#: Seconds between two sweeps. Relation: a tenth of the shortest lease.
SWEEP = 0.05

#: Seconds between two messages that a process hears.
HEARS_EVERY = 0.002

#: Milliseconds from one message of a channel to the next, by their ids: none is part of a paste.
APART = 1000

GUILD = "301"

RULES = Rules(
    Limits(first_chunk=60.0, progress=60.0, turn=60.0),
    step=60.0,
    max_attempts=3,
    max_pages=2,
    ping_author="never",
    delete_partial=False,
    final_anew=False,
    keep=1_000_000,
    context=0,
    buttons=False,
    reactions=False,
)

DOOR_RULES = DoorRules(
    responder="Charging",
    mode=Mode.QUEUE,
    follow_mode=Mode.QUEUE,
    debounce=0.0,
    debounce_most=0.0,
    followups="off",
    max_followups=3,
    inbox=1_000_000,
    inbox_per_person=1_000_000,
    overflow=Overflow.REFUSE,
)

MENTION = Heard(
    by_machine=False,
    system=False,
    addressed=True,
    addressed_elsewhere=False,
    followed=False,
    allowed=True,
    stop_phrase=False,
    moderator=False,
)


@dataclass(frozen=True, slots=True)
class Scene:
    """What all processes of one run share."""

    state_url: str
    folder: Path
    channels: tuple[str, ...]
    knows_nonces: bool
    #: The id of every channel's message number 0.
    first_id: int
    steps: Steps

    @property
    def outside(self) -> Path:
        """The file of the outside."""
        return self.folder / "outside.db"

    def number(self, inbound: str) -> int:
        """The number of the message with that id."""
        return (int(inbound) - self.first_id >> 22) // APART

    def message(self, channel: str, number: int) -> Message:
        """The message of that number, equal whoever hears it."""
        author = Person(f"10{number % 3}", "Ada")
        id_ = str(self.first_id + (number * APART << 22))
        return Message(
            id_, channel, GUILD, author, f"{number}", addressed=True, responder="Charging"
        )


class Charging:
    """A responder with an effect worth keeping."""

    def __init__(self, outside: Outside) -> None:
        """Charge at *outside*."""
        self._outside = outside

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Charge once, then answer in two chunks."""
        await turn.step("charge", self._outside.charge)
        yield "answer to "
        yield turn.text


async def nothing_to_learn(_: Place) -> None:
    """Know the rules of every place beforehand."""


class Bot:
    """The core, wired together as the client does it."""

    def __init__(self, scene: Scene) -> None:
        """Connect nothing yet."""
        self.scene = scene
        self.outside = Outside(scene.outside, knows_nonces=scene.knows_nonces)
        self.state = recorded(connect(scene.state_url, partitions=1), scene.folder, scene.steps)
        responder: Responder = Charging(self.outside)
        claim = Claim(scene.steps.lease, by=f"{os.getpid()}")
        rules = CoreRules(
            lease=claim,
            claim=lambda _: claim,
            reactions=lambda _: False,
            quota=lambda: Quota(10**9, 10**9),
            door=lambda _: DOOR_RULES,
            learn=nothing_to_learn,
            turn=lambda _: RULES,
            proxied=lambda: False,
            cog=lambda _responder, _place: None,
        )
        core = Core(self.state, self.outside, rules, lambda _name: responder)
        self.locks, self.door, self.wakes = core.locks, core.door, core.wakes

    async def live(self) -> None:
        """Hear, speak, renew and sweep until killed."""
        await self._open()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.locks.heartbeat())
            group.create_task(self._sweep())
            group.create_task(self._hear())
            group.create_task(self._orphaned())

    async def _open(self) -> None:
        """Open the store as a supervisor would have it opened: again, while it is away."""
        while True:
            try:
                return await self.state.open()
            except StateUnavailable:
                await asyncio.sleep(SWEEP)

    async def _sweep(self) -> None:
        while True:
            with suppress(StateUnavailable):
                await self.wakes.sweep()
            await asyncio.sleep(SWEEP * random.uniform(0.5, 1.5))

    async def _hear(self) -> None:
        """Hear what people say next, in any channel; other processes may hear the same."""
        while True:
            channel = random.choice(self.scene.channels)
            number = self.outside.next_of(channel)
            if number is not None:
                said = self.scene.message(channel, number)
                if await self.door.enter(said, MENTION) is not None:
                    self.outside.acknowledge(channel, number)
            await asyncio.sleep(HEARS_EVERY)

    async def _orphaned(self) -> None:
        """End when nobody is left who could kill us."""
        parent = os.getppid()
        while os.getppid() == parent:  # noqa: ASYNC110 (nobody tells; the system only answers)
            await asyncio.sleep(0.2)
        os._exit(1)


def live(scene: Scene) -> None:
    """Be one process until killed."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    random.seed()
    asyncio.run(Bot(scene).live())
