"""Turn cycles without a server: in memory, and in an SQLite file by one process and by four."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module

from benchmarks import neighbour
from benchmarks.measure import Burst, Comparison, Cycle, Measurement, Row, Take, bursts_of, ratio
from benchmarks.plan import Plan
from benchmarks.turns import full_cycle, new_id, opened, short_cycle

#: Relation: as many as a small host has cores for bots of one application.
_PROCESSES = 4

#: Seconds for which they work, at least. Relation: they wait for one another's commits, some long.
_AT_LEAST = 0.5

_SCHEMA = """
CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS turn (conversation TEXT PRIMARY KEY, inbound TEXT, expires REAL)
    WITHOUT ROWID;
"""


async def measure(plan: Plan) -> list[Row]:
    """Compare all of them at each width, then let processes share a file."""
    rows: list[Row] = []
    for width in plan.widths:
        rows += await _compare(plan, width)
    for level in ("full", "normal"):
        rows.append(await _shared(plan, level))
    return rows


async def _compare(plan: Plan, width: int) -> list[Row]:
    compared = Comparison[Burst]()
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as folder:
        stores = {
            "memory.cycle": "memory:",
            "memory.full": "memory:",
            "sqlite.cycle": f"sqlite:{folder}/cycle.db",
            "sqlite.full": f"sqlite:{folder}/full.db",
            "sqlite.normal.cycle": f"sqlite:{folder}/normal.db?synchronous=normal",
        }
        async with AsyncExitStack() as open_now:
            for name, url in stores.items():
                state = await open_now.enter_async_context(opened(url))
                cycle = full_cycle(state) if name.endswith(".full") else short_cycle(state)
                compared.add(name, await bursts_of(cycle, width, plan.burst))

            async def peer() -> Take[Burst]:
                cycle = await open_now.enter_async_context(aiosqlite(f"{folder}/peer.db"))
                return await bursts_of(cycle, width, plan.burst)

            if width in plan.compared:
                await compared.add_peer("aiosqlite", peer())
            taken = await compared.run(plan.rounds)
    rates = {name: tuple(one.rate for one in bursts) for name, bursts in taken.items()}
    peers = rates.pop("aiosqlite", ())
    rows: list[Row] = compared.missing(f"cycle.{width}")
    rows += [Measurement(f"{name}.{width}", "cycles/s", runs) for name, runs in rates.items()]
    if peers:
        rows.append(Measurement(f"aiosqlite.cycle.{width}", "cycles/s", peers))
        rows.append(ratio(f"sqlite.cycle.{width}.vs_aiosqlite", rates["sqlite.cycle"], peers))
    return rows


@asynccontextmanager
async def aiosqlite(path: str) -> AsyncIterator[Cycle]:
    """The least that a lock with duplicates taken out does, each step its own commit."""
    connect = import_module("aiosqlite").connect
    one_at_a_time = asyncio.Lock()
    async with connect(path, isolation_level=None) as database:
        await database.execute("PRAGMA journal_mode=WAL")
        await database.execute("PRAGMA synchronous=FULL")
        await database.executescript(_SCHEMA)

        async def cycle(number: int) -> None:
            message = new_id()
            async with one_at_a_time:
                await database.execute("BEGIN IMMEDIATE")
                await database.execute("INSERT INTO seen VALUES (?)", (message,))
                await database.execute(
                    "INSERT INTO turn VALUES (?, ?, ?)", (str(number), message, time.time() + 15)
                )
                await database.execute("COMMIT")
            async with one_at_a_time:
                await database.execute("DELETE FROM turn WHERE conversation = ?", (str(number),))

        yield cycle


async def _shared(plan: Plan, level: str) -> Row:
    runs = []
    seconds = max(plan.burst, _AT_LEAST)
    for _ in range(max(1, plan.rounds // 2)):
        with tempfile.TemporaryDirectory(prefix="interlock-bench-") as folder:
            url = f"sqlite:{folder}/shared.db?synchronous={level}"
            runs.append(await _together(url, seconds))
    mode = "" if level == "full" else f"{level}."
    return Measurement(f"sqlite.{mode}cycle.50.in_{_PROCESSES}_processes", "cycles/s", tuple(runs))


async def _together(url: str, seconds: float) -> float:
    """Let processes work on one file for as long, and add up what they got done."""
    processes = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.neighbour"),
            *(url, str(number * neighbour.WIDTH), str(seconds)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for number in range(_PROCESSES)
    ]
    cycles = 0
    try:
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == neighbour.READY
        answers = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
        cycles = sum(int(answer) for answer, _ in answers)
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
            await process.wait()
    return cycles / seconds
