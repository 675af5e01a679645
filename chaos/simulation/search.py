"""Runs schedules by the hundred thousand, on every core, until one fails."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import get_context

from chaos.simulation.notes import Violation
from chaos.simulation.planted import NOTHING
from chaos.simulation.planted.table import FAULTS
from chaos.simulation.schedule import Schedule

#: Schedules in one piece of work. Relation: about a second of one core.
PIECE = 1_000


@dataclass(frozen=True, slots=True)
class Failure:
    """A schedule in which an invariant did not hold."""

    seed: int
    invariant: str
    told: str
    #: The planted fault, if there was one.
    fault: str | None = None

    def __str__(self) -> str:
        """Tell how to see it again."""
        again = f"python -m chaos simulate --seed {self.seed}"
        again += f" --fault {self.fault}" if self.fault else ""
        return f"seed {self.seed}: {self.told}\nsee it again with: {again}"


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search has run, and the first failure that it met."""

    schedules: int = 0
    steps: int = 0
    faults: int = 0
    seconds: float = 0.0
    failure: Failure | None = None

    def __add__(self, other: "Searched") -> "Searched":
        """Add up; of two failures the one of the lower seed stays."""
        failures = [one.failure for one in (self, other) if one.failure]
        return Searched(
            self.schedules + other.schedules,
            self.steps + other.steps,
            self.faults + other.faults,
            self.seconds + other.seconds,
            min(failures, key=lambda failure: failure.seed, default=None),
        )


def searched(seeds: range, fault: str | None = None) -> Searched:
    """Run the schedules of *seeds* here, over the planted *fault*, up to the first that fails."""
    planted = FAULTS[fault] if fault else NOTHING
    found = Searched()
    for seed in seeds:
        found += tried(Schedule(seed, planted), fault)
        if found.failure is not None:
            break
    return found


def tried(schedule: Schedule, fault: str | None = None) -> Searched:
    """Run one schedule, over the planted *fault* if there is one."""
    failure = None
    try:
        schedule.run()
    except Violation as violation:
        failure = Failure(schedule.plan.seed, violation.invariant, str(violation), fault)
    return Searched(1, schedule.steps, schedule.struck, failure=failure)


def search(seeds: range, fault: str | None = None) -> Searched:
    """Run the schedules of *seeds* on every core, up to the first that fails."""
    began, found = time.monotonic(), Searched()
    cores = os.cpu_count() or 1
    pieces = pieces_of(seeds)
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(searched, piece, fault) for piece in islice(pieces, 2 * cores)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                found += future.result()
            if found.failure is None:
                running |= more(pool, pieces, len(done), fault)
    return replace(found, seconds=time.monotonic() - began)


def more(
    pool: ProcessPoolExecutor, pieces: Iterator[range], count: int, fault: str | None
) -> set[Future[Searched]]:
    """Begin the next *count* pieces."""
    return {pool.submit(searched, piece, fault) for piece in islice(pieces, count)}


def pieces_of(seeds: range) -> Iterator[range]:
    """Cut seeds into pieces, in order."""
    for at in range(seeds.start, seeds.stop, PIECE):
        yield range(at, min(at + PIECE, seeds.stop))
