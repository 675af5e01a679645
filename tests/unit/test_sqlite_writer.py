"""The thread that owns the file: group commit, deadlines, cancellation, hints, room."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from state.errors import LeaseLost, StateUnavailable
from state.outcomes import Duplicate, Placed, Started
from state.ports import OP_WINDOW, SEEN_WINDOW
from state.sqlite import SqliteState, writer
from state.sqlite.hints import Channel
from state.sqlite.transaction import Transaction
from state.values import Changes, Claim, Conversation, Could, Inbound, Policy, Signal, SignalKind
from tests.waiting import wait_until

HERE = Conversation("guild/1", "10")


class Clock:
    """A clock that only the test moves."""

    now = 1_780_000_000.0

    def __call__(self) -> float:
        """Tell the time in seconds."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Give the clock of the test's handles."""
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Give a path where no file is yet."""
    return str(tmp_path / "state.db")


@pytest.fixture
async def state(path: str, clock: Clock) -> AsyncIterator[SqliteState]:
    """Give an open handle."""
    opened = SqliteState(path, clock=clock)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def other(path: str, clock: Clock) -> AsyncIterator[SqliteState]:
    """Give a handle that shares nothing with the first but the file, as in another process."""
    opened = SqliteState(path, clock=clock)
    opened._channel = Channel()
    await opened.open()
    yield opened
    await opened.close()


async def admit(state: SqliteState, name: str, conversation: Conversation = HERE) -> object:
    """Have an inbound admitted, and started if nobody speaks."""
    return await state.admit(
        conversation,
        Inbound(name, "ann", b"hello"),
        Could(trigger=True),
        Policy(inbox=1000, per_person=1000),
        op=f"op-{name}",
        claim=Claim(30),
    )


async def start(state: SqliteState, name: str) -> Started:
    """Have an inbound started, and answer the turn."""
    placed = await admit(state, name)
    assert isinstance(placed, Placed)
    assert placed.turnover.started is not None
    return placed.turnover.started


async def first_hint(state: SqliteState) -> Signal:
    """Listen until something is heard."""
    async with aclosing(state.hints()) as hints:
        return await anext(hints)


def rows(path: str) -> dict[str, int]:
    """Count the rows of each table that has any."""
    connection = sqlite3.connect(path)
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    counts = {
        name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608 (names of our own tables)
        for (name,) in tables
    }
    connection.close()
    return {name: count for name, count in counts.items() if count}


async def trace(state: SqliteState) -> list[str]:
    """Collect the statements that the handle runs from now on."""
    statements: list[str] = []

    def watch(tx: Transaction) -> None:
        connection: sqlite3.Connection = tx.execute.__self__.connection  # type: ignore[attr-defined]
        connection.set_trace_callback(statements.append)

    await state._read(watch)
    statements.clear()
    return statements


# --- group commit -------------------------------------------------------------------------------


async def test_the_steps_of_one_tick_share_one_commit(state: SqliteState) -> None:
    """Fifty steps asked for together wait for the disk once."""
    statements = await trace(state)
    await asyncio.gather(*(admit(state, f"{n}", Conversation("g", f"{n}")) for n in range(50)))
    assert statements.count("COMMIT") == 1
    assert statements.count("BEGIN IMMEDIATE") == 1


async def test_reading_takes_no_write_lock(state: SqliteState, path: str) -> None:
    """A process that only looks does not wait for one that writes."""
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    assert (await state.view(HERE)).turn is None
    assert (await state.due(0, 10)).conversations == ()
    locker.close()


async def test_a_lost_lease_does_not_disturb_its_neighbours(state: SqliteState) -> None:
    """A refused step shares its transaction with others, and changes nothing."""
    started = await start(state, "1")
    lease = started.lease
    stale = type(lease)(HERE, lease.turn, "1-stale", lease.expires)
    statements = await trace(state)
    told = await asyncio.gather(
        state.record(stale, "a", "0", b"no"),
        state.record(lease, "a", "0", b"yes"),
        state.page(stale, 0, 0, b"no"),
        return_exceptions=True,
    )
    assert [type(answer) for answer in told] == [LeaseLost, bytes, LeaseLost]
    assert statements.count("COMMIT") == 1
    assert await state.record(lease, "a", "0", b"later") == b"yes"
    assert (await state.page(lease, 0, 0, b"later")).intent == b"later"


async def test_a_step_that_breaks_half_way_leaves_nothing_and_breaks_alone(
    state: SqliteState,
) -> None:
    """The transaction is run again without what broke it."""

    def breaks(tx: Transaction) -> None:
        tx.mark_seen(HERE, "half")
        raise ZeroDivisionError

    answers = await asyncio.gather(
        admit(state, "1"), state._write(breaks), admit(state, "2"), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [Placed, ZeroDivisionError, Placed]
    assert isinstance(await admit(state, "half"), Placed)
    view = await state.view(HERE)
    assert [inbound.id for inbound in view.waiting] == ["2", "half"]


async def test_a_full_disk_is_told_and_passes(state: SqliteState) -> None:
    """No step is half done while there is no room, and all works once there is."""
    await admit(state, "1")

    def limit(tx: Transaction, pages: int) -> None:
        tx.execute(f"PRAGMA max_page_count = {pages}")

    await state._read(lambda tx: limit(tx, 1))
    huge = Inbound("2", "ann", b"x" * 500_000)
    with pytest.raises(StateUnavailable, match="full"):
        await state.admit(HERE, huge, Could(trigger=True), Policy(), op="op-2", claim=Claim(30))
    assert (await state.view(HERE)).waiting == ()
    await state._read(lambda tx: limit(tx, 1_000_000))
    placed = await state.admit(
        HERE, huge, Could(trigger=True), Policy(), op="op-2", claim=Claim(30)
    )
    assert isinstance(placed, Placed)


# --- deadlines and cancellation -----------------------------------------------------------------


async def test_a_locked_file_is_unavailable_within_the_deadline(
    state: SqliteState, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that holds the write lock for ever does not hang ours, and hurts only meanwhile."""
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    asked = time.monotonic()
    with monkeypatch.context() as patch:
        patch.setattr(writer, "DEADLINE", 0.3)
        with pytest.raises(StateUnavailable, match="no answer"):
            await admit(state, "1")
    assert time.monotonic() - asked < 3
    locker.close()
    assert isinstance(await admit(state, "1"), Placed)


async def test_a_short_lock_is_waited_for(state: SqliteState, path: str) -> None:
    """Another process's transaction only delays a step."""
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    asking = asyncio.create_task(admit(state, "1"))
    await asyncio.sleep(0.3)
    assert not asking.done()
    locker.close()
    assert isinstance(await asking, Placed)


async def test_a_disk_that_hangs_does_not_hang_the_caller(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even when the thread itself is stuck, each call ends; nothing is known about its outcome."""
    monkeypatch.setattr(writer, "DEADLINE", 0.2)
    freed = threading.Event()

    def stuck() -> float:
        freed.wait(10)
        return time.time()

    state = SqliteState(path, clock=stuck)
    await state.open()
    calls = [admit(state, "1"), admit(state, "2")]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(answer) for answer in answers] == [StateUnavailable] * 2
    freed.set()
    await state.close()


async def test_a_caller_cancelled_before_the_tick_ends_asked_for_nothing(
    state: SqliteState,
) -> None:
    """A step whose caller is gone before it ran does not run."""
    asking = asyncio.create_task(admit(state, "1"))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert (await state.view(HERE)).turn is None


async def test_cancelled_at_any_moment_a_step_happened_once_or_not(state: SqliteState) -> None:
    """After a hundred cancellations each inbound is there once or not at all, told the truth."""
    tasks = []
    for number in range(100):
        tasks.append(asyncio.create_task(admit(state, f"{number}")))
        await asyncio.sleep(0.0002 * (number % 5))
        tasks[number // 2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    view = await state.view(HERE)
    there = [inbound.id for inbound in ((view.turn and view.turn.inbounds) or ()) + view.waiting]
    assert len(there) == len(set(there))
    for number, task in enumerate(tasks):
        if not task.cancelled():
            assert f"{number}" in there
        again = await state.admit(
            HERE,
            Inbound(f"{number}", "ann", b"hello"),
            Could(trigger=True),
            Policy(inbox=1000, per_person=1000),
            op=f"again-{number}",
            claim=None,
        )
        assert isinstance(again, Duplicate) == (f"{number}" in there)


async def test_closing_answers_what_was_asked_for(path: str) -> None:
    """A close in the same tick as a step comes after it."""
    state = SqliteState(path)
    await state.open()
    asking = asyncio.gather(*(admit(state, f"{number}") for number in range(3)))
    await asyncio.sleep(0)
    await state.close()
    assert [type(answer) for answer in await asking] == [Placed] * 3


# --- hints --------------------------------------------------------------------------------------


async def test_a_hint_reaches_the_other_handles_of_the_process_and_others(
    state: SqliteState, other: SqliteState, path: str, clock: Clock
) -> None:
    """Who listens hears a signal, whichever handle or process it came through."""
    third = SqliteState(path, clock=clock)
    await third.open()
    started = await start(state, "1")
    hearing = [asyncio.create_task(first_hint(each)) for each in (state, third, other)]
    await wait_until(
        lambda: state._channel.heard and other._channel.heard, description="all listen"
    )
    await state.signal(HERE, started.lease.turn, SignalKind.STOP, by="mod", op="op-stop")
    async with asyncio.timeout(2):
        assert set(await asyncio.gather(*hearing)) == {Signal(HERE, "1", SignalKind.STOP, "mod")}
    assert not state._channel.heard
    await third.close()


# --- room ---------------------------------------------------------------------------------------


async def test_an_idle_conversation_leaves_nothing(
    state: SqliteState, path: str, clock: Clock
) -> None:
    """Once the windows have passed only the counters are left."""
    for number in range(5):
        started = await start(state, f"{number}")
        await state.record(started.lease, "a", "0", b"step")
        await state.page(started.lease, 0, 0, b"page")
        await state.take(started.lease, "all")
        await state.commit(started.lease, Changes(), op=f"end-{number}", claim=None)
    idle = {"store": 1, "counter": 16}
    assert rows(path) == idle | {"seen": 5, "operation": 10}
    clock.now += 2 * OP_WINDOW
    for _ in range(writer.PURGE):
        await state.unsubscribe(HERE)
    assert rows(path) == idle | {"seen": 5}
    clock.now += SEEN_WINDOW
    for _ in range(writer.PURGE):
        await state.unsubscribe(HERE)
    assert rows(path) == idle


async def test_an_id_is_known_exactly_as_long_as_its_window(
    state: SqliteState, clock: Clock
) -> None:
    """What has not been swept yet does not count longer than it should."""
    await admit(state, "1")
    clock.now += SEEN_WINDOW
    assert isinstance(
        await state.admit(HERE, Inbound("1", "ann", b"x"), Could(), Policy(), op="a", claim=None),
        Duplicate,
    )
    clock.now += 1
    assert not isinstance(
        await state.admit(HERE, Inbound("1", "ann", b"x"), Could(), Policy(), op="b", claim=None),
        Duplicate,
    )
