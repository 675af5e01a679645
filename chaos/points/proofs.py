"""Crashes before and after every write: the end is that of the run without one."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from chaos.figures import Proof
from chaos.points.ending import Ending, ending_of
from chaos.points.rehearsal import Point, Rehearsal
from chaos.points.scenarios import SCENARIOS
from chaos.simulation.ground import SharedGround, shared_ground
from chaos.simulation.notes import Violation
from chaos.stores import made

#: Reasons that are told; the rest would be more of the same.
TOLD = 5


@dataclass(slots=True)
class Tried:
    """What all rehearsals over one store have counted."""

    ground: SharedGround
    runs: int = 0
    #: Runs with one crash and with two.
    single: int = 0
    pairs: int = 0
    #: Runs of one effect at the most, of one crash.
    most: int = 0
    wrong: list[str] = field(default_factory=list)

    def rehearse(self, number: int, *points: Point) -> tuple[Ending, Rehearsal]:
        """Run the scenario of that number, in a conversation of its own."""
        self.runs += 1
        scenario = SCENARIOS[number].of(f"guild/{self.runs}")
        rehearsal = Rehearsal(scenario, points, self.ground)
        rehearsal.run()
        return ending_of(rehearsal, self.ground.state), rehearsal

    def compare(self, number: int, clean: Ending, *points: Point) -> Rehearsal | None:
        """Run it with crashes; note when its end is another, or an effect ran too often."""
        try:
            ending, rehearsal = self.rehearse(number, *points)
        except Violation as violation:
            self.wrong.append(f"{points}: {violation}")
            return None
        most = max(rehearsal.discord.effects.values(), default=0)
        if len(points) == 1:
            self.most = max(self.most, most)
        if ending != clean:
            self.wrong.append(f"{rehearsal.scenario.name}, {points}: {ending}, not {clean}")
        if most > 1 + len(points):
            self.wrong.append(f"{rehearsal.scenario.name}, {points}: an effect ran {most} times")
        return rehearsal


def crashed_everywhere(store: str, ground: SharedGround, every: int = 1) -> Proof:
    """Crash each scenario at each point, and at *every* so-many-th pair of points."""
    tried, began, turn = Tried(ground), time.monotonic(), count()
    for number in range(len(SCENARIOS)):
        try:
            clean, first = tried.rehearse(number)
        except Violation as violation:
            tried.wrong.append(f"without a crash: {violation}")
            continue
        for point in points_of(first.lives[-1]):
            tried.single += 1
            single = tried.compare(number, clean, point)
            left = single.lives[-1] if single else 0
            for second in points_of(left):
                if next(turn) % every == 0:
                    tried.pairs += 1
                    tried.compare(number, clean, point, second)
    figures = {
        "scenarios": len(SCENARIOS),
        "runs with one crash": tried.single,
        "runs with two crashes": tried.pairs,
        "runs that ended otherwise": len(tried.wrong),
        "most runs of an effect with one crash": tried.most,
        "seconds": time.monotonic() - began,
    }
    return Proof(f"crash points over {store}", figures, tried.wrong[:TOLD])


def everywhere(store: str, every: int) -> Proof:
    """Do it over a store that is made for the purpose."""
    with made(store) as url, shared_ground(url) as ground:
        return crashed_everywhere(store, ground, every)


def points_of(calls: int) -> Iterator[Point]:
    """Each point of a run that makes so many calls."""
    for number in range(1, calls + 1):
        yield Point(number, after=False)
        yield Point(number, after=True)
