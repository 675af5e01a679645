"""How a figure is taken: bursts of cycles, and rounds in which all that is compared take turns."""

import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Figure = TypeVar("Figure")

Cycle = Callable[[int], Awaitable[None]]
"""One turn of the conversation of that number, from its message to its end."""

Take = Callable[[], Awaitable[Figure]]
"""Takes a figure once."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A figure, as each run of it gave it."""

    name: str
    unit: str
    runs: Sequence[float]

    @property
    def median(self) -> float:
        """The middle one of the runs."""
        return statistics.median(self.runs)


@dataclass(frozen=True, slots=True)
class Missing:
    """A figure that could not be taken, and why."""

    name: str
    reason: str


Row = Measurement | Missing


class Unavailable(Exception):
    """What is to be measured is not on this machine; the text says what is lacking."""


@dataclass(frozen=True, slots=True)
class Burst:
    """What a burst of cycles took: seconds, and those of this process's processor time."""

    cycles: int
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        """Cycles in a second."""
        return self.cycles / self.seconds

    @property
    def client_us(self) -> float:
        """Microseconds of this process's processor time for one cycle."""
        return self.cpu / self.cycles * 1e6


async def burst(cycle: Cycle, width: int, each: int) -> Burst:
    """Run *each* cycles in each of *width* conversations at once."""

    async def conversation(number: int) -> None:
        for _ in range(each):
            await cycle(number)

    gc.collect()
    cpu, began = time.process_time(), time.perf_counter()
    await asyncio.gather(*(conversation(number) for number in range(width)))
    return Burst(width * each, time.perf_counter() - began, time.process_time() - cpu)


async def bursts_of(cycle: Cycle, width: int, seconds: float) -> Take[Burst]:
    """Warm *cycle* up, and answer how to run it for about *seconds*."""
    each = 1
    while (tried := await burst(cycle, width, each)).seconds < seconds / 4:
        each *= 2
    each = max(1, round(each * seconds / tried.seconds))
    return lambda: burst(cycle, width, each)


class Comparison(Generic[Figure]):
    """
    What is compared: each round all of it takes turns, each round starting with another one.

    A peer that fails, now or later, is told of with its reason; all else that fails ends the
    benchmark.
    """

    def __init__(self) -> None:
        self._takes: dict[str, Take[Figure]] = {}
        self._peers: set[str] = set()
        self._failed: dict[str, str] = {}

    def add(self, name: str, take: Take[Figure]) -> None:
        """Add what must not fail."""
        self._takes[name] = take

    async def add_peer(self, name: str, prepare: Awaitable[Take[Figure]]) -> None:
        """Add what may be not there, or may fail."""
        self._peers.add(name)
        try:
            self._takes[name] = await prepare
        except Exception as error:  # noqa: BLE001 (a library of others may raise anything)
            self._fail(name, error)

    async def run(self, rounds: int) -> dict[str, list[Figure]]:
        """Answer the figures by name; those of a peer that failed are not among them."""
        taken: dict[str, list[Figure]] = {name: [] for name in self._takes}
        names = list(self._takes)
        for number in range(rounds):
            start = number % len(names)
            for name in names[start:] + names[:start]:
                if name in self._takes:
                    await self._take(name, taken)
        return {name: taken[name] for name in self._takes}

    def missing(self, suffix: str) -> list[Row]:
        """Tell of each peer that failed."""
        return [Missing(f"{name}.{suffix}", reason) for name, reason in self._failed.items()]

    async def _take(self, name: str, taken: Mapping[str, list[Figure]]) -> None:
        try:
            taken[name].append(await self._takes[name]())
        except Exception as error:
            if name not in self._peers:
                raise
            self._fail(name, error)
            del self._takes[name]

    def _fail(self, name: str, error: Exception) -> None:
        self._failed[name] = f"{type(error).__name__}: {error}"


def ratio(name: str, ours: Sequence[float], theirs: Sequence[float]) -> Measurement:
    """Compare round by round, so that what slows a whole round down slows both."""
    return Measurement(name, "x", tuple(a / b for a, b in zip(ours, theirs, strict=True)))


def p99(taken: Sequence[float]) -> float:
    """Of so few that none is beyond, the largest."""
    return sorted(taken)[min(len(taken) - 1, len(taken) * 99 // 100)]
