"""The simulation's long forms."""

import time

from chaos.figures import Proof
from chaos.simulation.ground import shared_ground
from chaos.simulation.planted.table import FAULTS
from chaos.simulation.schedule import Schedule
from chaos.simulation.search import Searched, search, searched, tried
from chaos.stores import made

#: Schedules within which each planted fault must be found.
FOUND_WITHIN = 100_000


def protocol_holds(schedules: int, first: int = 0, fault: str | None = None) -> Proof:
    """Run *schedules* of the protocol, sound or with a planted *fault*, from seed *first* on."""
    found = search(range(first, first + schedules), fault)
    figures = {
        "schedules": found.schedules,
        "calls": found.steps,
        "faults that struck": found.faults,
        "seconds": found.seconds,
        "schedules a second": found.schedules / found.seconds,
    }
    return Proof("simulation", figures, [str(found.failure)] if found.failure else [])


def protocol_holds_over(store: str, schedules: int, first: int = 0) -> Proof:
    """Run *schedules* over a real store, which no schedule may set back."""
    found, began = Searched(), time.monotonic()
    with made(store) as url, shared_ground(url) as ground:
        for seed in range(first, first + schedules):
            found += tried(Schedule(seed, ground=ground))
            if found.failure is not None:
                break
    figures = {
        "schedules": found.schedules,
        "calls": found.steps,
        "faults that struck": found.faults,
        "seconds": time.monotonic() - began,
    }
    return Proof(f"simulation over {store}", figures, [str(found.failure)] if found.failure else [])


def found_after(fault: str) -> Searched:
    """Search for a planted fault, in the order of the seeds."""
    return searched(range(FOUND_WITHIN), fault)


def as_markdown() -> str:
    """Write the table of `chaos/README.md`."""
    lines = [
        "| planted fault | what is wrong | found after | by the invariant |",
        "|---|---|--:|---|",
    ]
    for name, planted in FAULTS.items():
        found = found_after(name)
        invariant = found.failure.invariant if found.failure else "not found"
        lines.append(f"| {name} | {planted.fault} | {found.schedules:,} | {invariant} |")
    return "\n".join(lines)


def faults_are_found() -> Proof:
    """Find every planted fault; the figures are after how many schedules."""
    began = time.monotonic()
    figures: dict[str, float] = {}
    missed = []
    for name in FAULTS:
        found = found_after(name)
        figures[name] = found.schedules
        if found.failure is None:
            missed.append(f"{name} was not found in {found.schedules} schedules")
    figures["seconds in all"] = time.monotonic() - began
    return Proof("planted faults, found after schedules", figures, missed)
