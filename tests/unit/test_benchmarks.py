"""The benchmarks work and tell what they found. How fast anything is, no test asks."""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import cycles, embedded, replay, silence, stranded, streaming
from benchmarks.measure import Comparison, Measurement, Missing, Row, Take, burst, ratio
from benchmarks.plan import QUICK
from benchmarks.server import running_redis
from benchmarks.table import WIDTH, as_json, as_table
from benchmarks.targets import TARGETS, Target

ROOT = Path(__file__).parents[2]

TINY = replace(
    QUICK,
    rounds=2,
    burst=0.005,
    widths=(2,),
    compared=(2,),
    recorded=8,
    stored=20,
    pairs=20,
    ended=8,
    streams=(2,),
    characters=400,
)


def shown(rows: Sequence[Row], *, machine: str = "a machine") -> list[str]:
    """Render the table as a terminal shows it; its lines."""
    console = Console(width=200, force_terminal=False)
    with console.capture() as captured:
        console.print(as_table([("a subject", rows)], machine))
    return captured.get().splitlines()


def named(rows: Sequence[Row]) -> dict[str, Row]:
    """Map each name to its row; no two rows share one."""
    found = {row.name: row for row in rows}
    assert len(found) == len(rows)
    return found


# --- what is told ---


def test_the_json_maps_each_name_to_median_unit_and_runs() -> None:
    """A program finds every figure by its name."""
    rows = [Measurement("redis.cycle.50", "cycles/s", [3.0, 1.0, 2.0])]
    assert json.loads(as_json(rows)) == {
        "redis.cycle.50": {"median": 2.0, "unit": "cycles/s", "runs": [3.0, 1.0, 2.0]}
    }


def test_what_is_missing_is_told_with_its_reason() -> None:
    """A peer that is not installed stands in the table, and no figure is made up for it."""
    rows = [Missing("pottery.cycle.50", "No module named 'pottery'")]
    text = "\n".join(shown(rows))
    assert "pottery.cycle.50" in text
    assert "not available: No module named 'pottery'" in text
    assert json.loads(as_json(rows)) == {}


def test_the_table_fits_eighty_columns_and_names_the_machine() -> None:
    """It can be read in a terminal and pasted into a page, whatever the names are."""
    rows: list[Row] = [Measurement(name, "cycles/s", [123456.0, 100000.0]) for name in TARGETS]
    rows.append(Measurement("redis." + "x" * 200, "cycles/s", [1.0]))
    lines = shown(rows, machine="Some Processor at 3 GHz, 2 cores " * 5)
    assert max(map(len, lines)) <= WIDTH
    assert any("Some Processor" in line for line in lines)


def test_the_table_says_whether_a_target_is_met() -> None:
    """A reader need not compare figures by hand."""
    (good,) = [
        line for line in shown([Measurement("redis.handover.20.ms", "ms", [4.0])]) if "ms" in line
    ]
    (bad,) = [
        line for line in shown([Measurement("redis.handover.20.ms", "ms", [6.0])]) if "ms" in line
    ]
    assert "<= 5 met" in good
    assert "<= 5 MISSED" in bad


@pytest.mark.parametrize(
    ("target", "figure", "met"),
    [
        (Target(">=", 6), 6.0, True),
        (Target(">=", 6), 5.9, False),
        (Target("<=", 0), 0.0, True),
        (Target("<=", 0), 0.1, False),
    ],
)
def test_a_target_is_met_on_its_good_side(target: Target, figure: float, met: bool) -> None:
    """The bound itself is good enough."""
    assert target.met_by(figure) is met


# --- how it is taken ---


async def test_a_burst_runs_every_cycle_of_every_conversation() -> None:
    """The rate is of cycles that were run."""
    ran: list[int] = []

    async def cycle(number: int) -> None:
        ran.append(number)

    taken = await burst(cycle, 3, 4)
    assert sorted(ran) == [0] * 4 + [1] * 4 + [2] * 4
    assert taken.cycles == 12


async def test_what_is_compared_takes_turns_each_round_from_another_one_on() -> None:
    """What slows the machine down for a while slows all of them down."""
    order: list[str] = []

    def noting(name: str) -> None:
        async def take() -> float:
            order.append(name)
            return float(len(order))

        compared.add(name, take)

    compared = Comparison[float]()
    for name in "abc":
        noting(name)
    assert await compared.run(3) == {
        "a": [1.0, 6.0, 8.0],
        "b": [2.0, 4.0, 9.0],
        "c": [3.0, 5.0, 7.0],
    }
    assert "".join(order) == "abcbcacab"


async def test_a_peer_that_fails_is_told_of_and_the_rest_goes_on() -> None:
    """Another project's fault, at its start or later, costs us no figure."""
    compared = Comparison[float]()

    async def one() -> float:
        return 1.0

    async def broken() -> float:
        raise LookupError("lost its lock")

    async def absent() -> Take[float]:
        raise ImportError("No module named 'absent'")

    async def prepared() -> Take[float]:
        return broken

    compared.add("ours", one)
    await compared.add_peer("absent", absent())
    await compared.add_peer("broken", prepared())
    assert await compared.run(2) == {"ours": [1.0, 1.0]}
    assert compared.missing("x") == [
        Missing("absent.x", "ImportError: No module named 'absent'"),
        Missing("broken.x", "LookupError: lost its lock"),
    ]


async def test_our_own_failure_ends_the_benchmark() -> None:
    """A figure of ours is never left out because it could not be taken."""
    compared = Comparison[float]()

    async def broken() -> float:
        raise LookupError

    compared.add("ours", broken)
    with pytest.raises(LookupError):
        await compared.run(1)


def test_a_ratio_is_taken_round_by_round() -> None:
    """A slow round that slows both does not change what they are to each other."""
    assert ratio("ours.vs_theirs", [10.0, 2.0], [5.0, 1.0]).runs == (2.0, 2.0)


# --- tiny runs ---


async def test_the_stores_without_a_server_are_measured() -> None:
    """Each adapter and each level has its figure, several processes on a file too."""
    rows = named(await embedded.measure(TINY))
    for name in ("memory.cycle.2", "sqlite.cycle.2", "sqlite.normal.cycle.2", "sqlite.full.2"):
        assert isinstance(row := rows[name], Measurement)
        assert row.median > 0
    assert isinstance(rows["sqlite.cycle.50.in_4_processes"], Measurement)


@pytest.fixture
def on_path(redis_server: object) -> None:
    """Skip where there is no server for a benchmark to start."""
    if shutil.which("redis-server") is None:
        pytest.skip("the benchmarks measure the redis-server on PATH, and there is none")


async def test_redis_is_measured_beside_the_others(on_path: None) -> None:
    """Ours, redis-py's lock, the pool and the floor have figures; who is not installed is named."""
    rows = named(await cycles.measure(TINY))
    for name in ("redis.cycle.2", "redis.full.2", "redis_py_lock.cycle.2", "floor.cycle.2"):
        assert isinstance(row := rows[name], Measurement)
        assert len(row.runs) == TINY.rounds
    trips = rows["redis.cycle.1.round_trips"]
    assert isinstance(trips, Measurement)
    assert trips.median == 2.0
    for peer in ("pottery", "python_redis_lock", "chat_sdk", "chat_sdk_state"):
        assert f"{peer}.cycle.2" in rows


async def test_no_message_of_ours_is_stranded(on_path: None) -> None:
    """A message that comes while a turn ends is answered, and the benchmark would see it if not."""
    rows = named(await stranded.measure(TINY))
    assert rows["redis.stranded.percent"] == Measurement("redis.stranded.percent", "%", [0.0, 0.0])


async def test_a_message_that_is_left_behind_is_counted() -> None:
    """The count is of messages that wait when all is quiet."""

    async def hear(number: int) -> None:
        """Leave it behind."""

    async def waiting(number: int) -> int:
        return number % 2

    assert await stranded.pairs_of(stranded.Bot(hear, waiting), 20)() == 50.0


async def test_a_recording_is_replayed_only_if_the_answers_are_the_same(on_path: None) -> None:
    """A replay that the server refuses would be quick, and is no figure."""
    with running_redis() as server:
        recorded = await replay.record(server, 2, 8)
        assert (await replay.pipelined(server, recorded)()).cycles == 8
        first, *rest = recorded.conversations[0][0]
        forged = replace(first, answer=first.answer[:-3] + b"~\r\n")
        other = replay.Recording((((forged, *rest),),))
        with pytest.raises(AssertionError, match="answered otherwise"):
            await replay.pipelined(server, other)()


def test_the_peers_run_beside_the_versions_that_the_bot_runs_with() -> None:
    """What is measured is what is shipped."""

    def pins(name: str) -> dict[str, str]:
        text = (ROOT / name).read_text()
        return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", text, re.MULTILINE))

    shipped, measured = pins("requirements.txt"), pins("requirements-bench.txt")
    shared = shipped.keys() & measured.keys()
    assert {"discord-py", "redis", "aiohttp"} <= shared
    assert {name: measured[name] for name in shared} == {name: shipped[name] for name in shared}
    assert {"chat-sdk", "pottery", "python-redis-lock", "aiosqlite"} <= measured.keys()


async def test_a_stop_is_timed_until_silence_and_until_the_next_reply() -> None:
    """Every state that was played is told of, and nothing is freed before it was asked for."""
    rows = named(await silence.measure(TINY))
    taken = rows["stop.silence.ms"], rows["stop.free.ms"]
    assert all(isinstance(row, Measurement) and len(row.runs) == TINY.ended for row in taken)
    assert all(isinstance(row, Measurement) and min(row.runs) >= 0 for row in rows.values())
    assert {"stop.mute.worst_ms", "stop.stream.worst_ms"} <= rows.keys()


async def test_streams_are_complete_when_they_are_counted() -> None:
    """Requests and processor time are those of whole replies."""
    rows = named(await streaming.measure(TINY))
    figures = {name: row.median for name, row in rows.items() if isinstance(row, Measurement)}
    assert figures["streaming.2.incomplete"] == 0
    assert figures["streaming.2.requests_per_10000"] >= 10_000 / TINY.characters
    assert figures["streaming.2.cpu_ms_per_1000_chunks"] > 0
