"""Prove by force: `python -m chaos [SUBJECT]`; without a subject, all of them at length."""

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from chaos.figures import Proof, as_json, show
from chaos.kills.proofs import needs_nonces, survives
from chaos.kills.trouble import TROUBLES
from chaos.points.proofs import everywhere
from chaos.simulation.ground import Ground, shared_ground
from chaos.simulation.notes import Violation
from chaos.simulation.planted import NOTHING
from chaos.simulation.planted.table import FAULTS
from chaos.simulation.proofs import (
    as_markdown,
    faults_are_found,
    protocol_holds,
    protocol_holds_over,
)
from chaos.simulation.schedule import Schedule
from chaos.stores import DURABLE, STORES, made

_WRITTEN = Path("build/chaos.json")

#: Schedules of the long form. Relation: ten times those of each test run; without a failure the
#: part of failing schedules is below one in a million, at 95 %.
SCHEDULES = 3_000_000

#: The same over a store that is not in memory, where one takes ten times as long.
SCHEDULES_OVER = 20_000

#: Kills of the long form over each store.
KILLS = 5_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; the exit code is 1 if anything broke."""
    reader = parser()
    asked = reader.parse_args(arguments)
    if asked.subject == "simulate" and asked.fault and asked.store != "memory":
        reader.error("faults are planted in memory only")
    match asked.subject:
        case "simulate" if asked.seed is not None:
            return replayed(asked.seed, asked.fault, asked.store)
        case "simulate" if asked.store != "memory":
            return told([protocol_holds_over(asked.store, asked.schedules, asked.first)])
        case "simulate":
            return told([protocol_holds(asked.schedules, asked.first, asked.fault)])
        case "faults" if asked.markdown:
            print(as_markdown())
            return 0
        case "faults":
            return told([faults_are_found()])
        case "kill":
            control = asked.without_nonces
            proof = needs_nonces(asked.store) if control else survives(asked.store, asked.kills)
            return told([proof], as_json_only=asked.json)
        case "crash":
            return told([everywhere(asked.store, asked.every)], as_json_only=asked.json)
        case _:
            return told(written(everything(asked.part)))


def everything(part: float) -> Iterator[Proof]:
    """Run every long form, or a *part* of each."""
    yield protocol_holds(int(SCHEDULES * part), fresh())
    for store in DURABLE:
        yield protocol_holds_over(store, int(SCHEDULES_OVER * part), fresh())
    yield faults_are_found()
    for store in STORES:
        yield everywhere(store, every=round(1 / part))
    for store in TROUBLES:
        yield survives(store, int(KILLS * part))
    for store in DURABLE:
        yield needs_nonces(store)


def written(proofs: Iterable[Proof]) -> list[Proof]:
    """Write the figures of *proofs* as they come, which takes a while; return all."""
    done: list[Proof] = []
    _WRITTEN.parent.mkdir(exist_ok=True)
    for proof in proofs:
        done.append(proof)
        sys.stderr.write(f"{proof.name}: {'BROKEN' if proof.broken else 'holds'}\n")
        _WRITTEN.write_text(as_json(done))
    return done


def parser() -> argparse.ArgumentParser:
    """Say what can be asked for."""
    reader = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    reader.add_argument("--part", type=float, default=1.0, help="of the long forms; 1 is all")
    subjects = reader.add_subparsers(dest="subject", metavar="SUBJECT")
    simulate = subjects.add_parser("simulate", help="run schedules of the simulated protocol")
    simulate.add_argument("--seed", type=int, help="run one schedule and tell each step of it")
    simulate.add_argument("--fault", choices=FAULTS, metavar="NAME", help="plant a fault")
    simulate.add_argument("--store", choices=STORES, default="memory")
    simulate.add_argument("--schedules", type=int, default=SCHEDULES)
    simulate.add_argument("--first", type=int, default=fresh(), help="the first of the seeds")
    faults = subjects.add_parser("faults", help="find each planted fault")
    faults.add_argument("--markdown", action="store_true", help="write the table of the README")
    crash = subjects.add_parser("crash", help="crash before and after every write")
    crash.add_argument("--store", choices=STORES, default="memory")
    crash.add_argument("--every", type=int, default=1, help="try each so-many-th pair of crashes")
    kill = subjects.add_parser("kill", help="kill processes of the bot with -9")
    kill.add_argument("--store", choices=TROUBLES, default="sqlite")
    kill.add_argument("--kills", type=int, default=KILLS)
    kill.add_argument("--without-nonces", action="store_true", help="the control, which must err")
    for subject in (crash, kill):
        subject.add_argument("--json", action="store_true", help="print figures for a program")
    return reader


def fresh() -> int:
    """Draw a seed to begin with, so that each long run tries other schedules."""
    return random.SystemRandom().randrange(2**48)


def told(proofs: Sequence[Proof], *, as_json_only: bool = False) -> int:
    """Show the figures; 1 if anything broke."""
    if as_json_only:
        print(as_json(proofs))
    else:
        show(proofs)
    return 1 if any(proof.broken for proof in proofs) else 0


def replayed(seed: int, fault: str | None, store: str) -> int:
    """Run one schedule and tell each of its steps; 1 if an invariant did not hold."""
    planted = FAULTS[fault] if fault else NOTHING
    with made(store) as url, shared_ground(url) as shared:
        ground = Ground() if store == "memory" else shared
        schedule = Schedule(seed, planted, ground, trace=print)
        print(schedule.plan)
        try:
            schedule.run()
        except Violation as violation:
            print(violation)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
