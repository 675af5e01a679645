"""Measure everything: `python -m benchmarks [--quick] [--only SUBJECT…]`."""

import argparse
import asyncio
import importlib
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import described
from benchmarks.measure import Missing, Row, Unavailable
from benchmarks.plan import FULL, QUICK, Plan
from benchmarks.table import as_json, as_table, printed

#: Each a module here with `measure(plan)`, under the title that it has in the table.
SUBJECTS = {
    "cycles": "Turn cycles on Redis",
    "parsing": "Processor time for a message",
    "handover": "Hand-over",
    "stranded": "Second messages never answered",
    "renewal": "Renewal of leases",
    "memory_use": "Memory in Redis, per conversation",
    "embedded": "Turn cycles without a server",
    "latency": "From a message to the first request",
    "silence": "From a stop or a kill to silence",
    "streaming": "Streaming under Discord's limits",
}

_WRITTEN = Path("build/bench.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the JSON; the exit code is 1 if a subject failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a rough run, under a minute")
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, metavar="SUBJECT", default=SUBJECTS)
    asked = parser.parse_args(arguments)
    machine = described()
    plan = QUICK if asked.quick else FULL
    failed: list[str] = []
    sections = [(SUBJECTS[subject], measured(subject, plan, failed)) for subject in asked.only]
    printed(as_table(sections, machine))
    _WRITTEN.parent.mkdir(exist_ok=True)
    _WRITTEN.write_text(as_json([row for _, rows in sections for row in rows]))
    return 1 if failed else 0


def measured(subject: str, plan: Plan, failed: list[str]) -> list[Row]:
    """Measure one subject; the others go on when it fails, or when the machine lacks its means."""
    began = time.monotonic()
    try:
        module = importlib.import_module(f"benchmarks.{subject}")
        rows: list[Row] = asyncio.run(module.measure(plan))
    except Unavailable as lacking:
        rows = [Missing(subject, str(lacking))]
    except Exception as error:  # noqa: BLE001 (an hour's other figures are worth keeping)
        traceback.print_exc()
        failed.append(subject)
        rows = [Missing(subject, f"{type(error).__name__}: {error}")]
    sys.stderr.write(f"{subject}: {time.monotonic() - began:.0f} s\n")
    return rows


if __name__ == "__main__":
    sys.exit(main())
