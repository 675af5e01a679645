"""Prove by force: `python -m chaos [simulate|faults]`; without a subject, all of them at length."""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from chaos.figures import Proof, as_json, show
from chaos.simulation.notes import Violation
from chaos.simulation.planted import NOTHING
from chaos.simulation.planted.table import FAULTS
from chaos.simulation.proofs import as_markdown, faults_are_found, protocol_holds
from chaos.simulation.schedule import Schedule

_WRITTEN = Path("build/chaos.json")

#: Schedules of the long form. Relation: ten times those of each test run; without a failure the
#: part of failing schedules is below one in a million, at 95 %.
SCHEDULES = 3_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; the exit code is 1 if anything broke."""
    asked = parser().parse_args(arguments)
    match asked.subject:
        case "simulate" if asked.seed is not None:
            return replayed(asked.seed, asked.fault)
        case "simulate":
            return told([protocol_holds(asked.schedules, asked.first)])
        case "faults" if asked.markdown:
            print(as_markdown())
            return 0
        case "faults":
            return told([faults_are_found()])
        case _:
            proofs = [protocol_holds(SCHEDULES, fresh()), faults_are_found()]
            _WRITTEN.parent.mkdir(exist_ok=True)
            _WRITTEN.write_text(as_json(proofs))
            return told(proofs)


def parser() -> argparse.ArgumentParser:
    """Say what can be asked for."""
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    subjects = parser.add_subparsers(dest="subject")
    simulate = subjects.add_parser("simulate", help="run schedules of the simulated protocol")
    simulate.add_argument("--seed", type=int, help="run one schedule and tell each step of it")
    simulate.add_argument("--fault", choices=FAULTS, metavar="NAME", help="… over a planted fault")
    simulate.add_argument("--schedules", type=int, default=SCHEDULES)
    simulate.add_argument("--first", type=int, default=fresh(), help="the first of the seeds")
    faults = subjects.add_parser("faults", help="find each planted fault")
    faults.add_argument("--markdown", action="store_true", help="write the table of the README")
    return parser


def fresh() -> int:
    """Draw a seed to begin with, so that each long run tries other schedules."""
    return random.SystemRandom().randrange(2**48)


def told(proofs: Sequence[Proof]) -> int:
    """Show the figures; 1 if anything broke."""
    show(proofs)
    return 1 if any(proof.broken for proof in proofs) else 0


def replayed(seed: int, fault: str | None) -> int:
    """Run one schedule and tell each of its steps; 1 if an invariant did not hold."""
    schedule = Schedule(seed, FAULTS[fault] if fault else NOTHING, trace=print)
    print(schedule.plan)
    try:
        schedule.run()
    except Violation as violation:
        print(violation)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
