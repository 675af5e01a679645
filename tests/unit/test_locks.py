"""The leases held here: how long they let us speak, and why a turn ends before its time."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from bot import locks as locks_module
from bot.endings import BY_SIGNAL, Ending
from bot.inbound import Message
from bot.locks import MARGIN, Holding, Locks
from state.memory import MemoryState
from state.outcomes import Placed, Started
from state.ports import WENT_BACK
from state.values import Claim, Could, Lease, Policy, SignalKind
from tests.unit.fake_store import Store
from tests.unit.fakes import ADA, BO, message
from tests.waiting import wait_until

CLAIM = Claim(15.0)

#: How a turn may be ended early, the weakest reason first.
REASONS = [
    Ending.PARKED,
    Ending.SUPERSEDED,
    Ending.FAILED,
    Ending.STOPPED,
    Ending.KILLED,
    Ending.LOST,
]


async def start(store: Store, asked: Message) -> Started:
    """Start a turn in the store."""
    placed = await store.port.admit(
        asked.conversation, asked.inbound(), Could(trigger=True), Policy(), op=asked.id, claim=CLAIM
    )
    assert isinstance(placed, Placed)
    assert placed.turnover.started is not None
    return placed.turnover.started


def holding(seconds: float = 15.0) -> Holding:
    """Make a holding whose lease was asked for just now."""
    asked = message()
    lease = Lease(asked.conversation, asked.id, "1-a", 0)
    return Holding(Started(lease, (asked.inbound(),)), time.monotonic(), seconds)


@pytest.fixture
async def store() -> Store:
    """Give a store."""
    return Store()


@pytest.fixture
async def locks(store: Store) -> Locks:
    """Give the locks of one process."""
    return Locks(store.port, CLAIM)


# ----------------------------------------------------------------------------------------- deadline


@pytest.mark.parametrize(("seconds", "margin"), [(3.0, 0.6), (15.0, MARGIN), (120.0, MARGIN)])
async def test_we_stop_speaking_before_the_lease_ends(seconds: float, margin: float) -> None:
    """A request that has begun may still be on its way then; a short lease leaves some time too."""
    held = holding(seconds)
    held.prolong(1000.0, seconds)
    assert held.deadline == 1000.0 + seconds - margin


async def test_nothing_may_be_said_after_the_deadline_or_without_the_lease() -> None:
    """The deadline is looked at on our own monotonic clock; a lost lease beats it."""
    late = holding()
    late.deadline = time.monotonic()
    assert not late.may_speak
    held = holding()
    for reason in REASONS[:-1]:
        held.cancel(reason)
        assert held.may_speak  # for the last words
    lost = holding()
    lost.cancel(Ending.LOST)
    assert not lost.may_speak


async def test_a_lease_lives_from_before_it_was_asked_for(store: Store, locks: Locks) -> None:
    """However long the answer takes: the store's count may have begun with the question."""
    with locks.hold(await start(store, message()), time.monotonic()) as held:
        store.hold = asyncio.Event()
        asked = time.monotonic()
        beat = asyncio.create_task(locks.beat())
        await wait_until(lambda: "renew" in store.steps, description="the renewal is on its way")
        await asyncio.sleep(0.03)
        store.hold.set()
        assert await beat
        assert held.deadline - (asked + CLAIM.seconds - MARGIN) < 0.03


# --------------------------------------------------------------------------------------- precedence


@pytest.mark.parametrize("first", REASONS)
@pytest.mark.parametrize("second", REASONS)
async def test_a_stronger_reason_replaces_a_weaker_one(first: Ending, second: Ending) -> None:
    """A follow-up never overrides a stop, nor a stop a kill, and a lost lease is the last word."""
    held = holding()
    held.cancel(first)
    held.cancel(second)
    assert held.reason is max(first, second, key=REASONS.index)
    assert held.cancelled.result() is first  # it only wakes whoever waits


@pytest.mark.parametrize("signal", list(SignalKind))
async def test_each_request_to_a_holder_has_its_ending(signal: SignalKind) -> None:
    """Follow-up, stop and kill are told apart."""
    expected = {"supersede": "superseded", "stop": "stopped", "kill": "killed"}
    assert BY_SIGNAL[signal].value == expected[signal.value]


# ------------------------------------------------------------------------------------------- chains


async def test_a_follow_up_waits_for_the_end_of_the_outermost_chain() -> None:
    """Tools at work are not cut; all that waited supersedes together afterwards."""
    held = holding()
    with held.chain():
        held.cancel(Ending.SUPERSEDED)
        with held.chain():
            held.cancel(Ending.SUPERSEDED)
        inside = held.reason
        assert not held.cancelled.done()
    assert (inside, held.reason) == (None, Ending.SUPERSEDED)
    assert held.cancelled.done()


@pytest.mark.parametrize("reason", [reason for reason in REASONS if reason != Ending.SUPERSEDED])
async def test_anything_but_a_follow_up_cuts_a_chain(reason: Ending) -> None:
    """A stop or kill reaches a tool that runs."""
    held = holding()
    with held.chain():
        held.cancel(reason)
        assert held.reason is reason


async def test_a_chain_that_fails_lets_the_follow_up_through_too() -> None:
    """The block's end counts, not how it ends."""
    held = holding()

    def fail_in_a_chain() -> None:
        with held.chain():
            held.cancel(Ending.SUPERSEDED)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_in_a_chain()
    assert held.reason is Ending.SUPERSEDED


async def test_a_chain_without_a_follow_up_ends_nothing() -> None:
    """And a follow-up after it acts at once."""
    held = holding()
    with held.chain():
        pass
    before = held.reason
    held.cancel(Ending.SUPERSEDED)
    assert (before, held.reason) == (None, Ending.SUPERSEDED)


async def test_a_stop_in_a_chain_is_not_undone_by_the_follow_up_after_it() -> None:
    """The follow-up that waited for the chain's end is the weaker of the two."""
    held = holding()
    with held.chain():
        held.cancel(Ending.SUPERSEDED)
        held.cancel(Ending.STOPPED)
    assert held.reason is Ending.STOPPED


# ------------------------------------------------------------------------------------- what is held


async def test_a_turn_is_held_for_as_long_as_the_block_runs(store: Store, locks: Locks) -> None:
    """By conversation, by author, by message."""
    asked, other = message(), message(author=BO, channel="999")
    with locks.hold(await start(store, asked), time.monotonic()) as held:
        assert len(locks) == 1
        during = held.over
        assert locks.holds(asked.conversation)
        assert locks.is_live(asked.conversation, ADA.id)
        assert locks.answering(asked.id) == asked.conversation
        assert not locks.holds(other.conversation)
        assert not locks.is_live(asked.conversation, BO.id)
        assert not locks.is_live(other.conversation, ADA.id)
        assert locks.answering(other.id) is None
    assert len(locks) == 0
    assert not locks.holds(asked.conversation)
    assert (during, held.over) == (False, True)


async def test_a_turn_that_was_taken_up_again_is_not_dropped_by_its_first_run(
    store: Store, locks: Locks
) -> None:
    """Two runs of one turn may overlap for a moment; the older one ends only itself."""
    started = await start(store, message())
    with locks.hold(started, time.monotonic()):
        again = locks.hold(started, time.monotonic())
        newer = again.__enter__()
    assert len(locks) == 1
    locks.cancel(started.lease.turn, Ending.STOPPED)
    assert newer.reason is Ending.STOPPED
    again.__exit__(None, None, None)
    assert len(locks) == 0


async def test_only_the_turn_that_was_meant_is_cancelled(store: Store, locks: Locks) -> None:
    """A stop for a turn that is not held here hits no other."""
    one, other = message(), message(channel="999")
    with (
        locks.hold(await start(store, one), time.monotonic()) as first,
        locks.hold(await start(store, other), time.monotonic()) as second,
    ):
        locks.cancel("5", Ending.KILLED)
        locks.cancel(one.id, Ending.STOPPED)
        assert (first.reason, second.reason) == (Ending.STOPPED, None)
        locks.cancel_all(Ending.PARKED)
        assert (first.reason, second.reason) == (Ending.STOPPED, Ending.PARKED)


# ---------------------------------------------------------------------------------------- heartbeat


async def test_one_call_renews_every_lease_and_brings_their_signals(
    store: Store, locks: Locks
) -> None:
    """A lost one and a stopped one end; the third goes on."""
    asked = [message(channel=str(number)) for number in range(3)]
    started = [await start(store, one) for one in asked]
    before = time.monotonic() - 5
    with (
        locks.hold(started[0], before) as kept,
        locks.hold(started[1], before) as stopped,
        locks.hold(started[2], before) as lost,
    ):
        state = store.port
        await state.signal(
            asked[1].conversation, asked[1].id, SignalKind.STOP, by=ADA.id, op="stop"
        )
        await state.park(started[2].lease, op="park")
        store.steps.clear()
        assert await locks.beat()
        assert store.steps == ["renew"]
        assert (kept.reason, stopped.reason, lost.reason) == (None, Ending.STOPPED, Ending.LOST)
        assert kept.deadline > before + 5 + CLAIM.seconds - MARGIN - 1


async def test_what_has_happened_to_the_store_is_logged_once() -> None:
    """Here it was emptied: the turn is lost, and an operator is told what that may have cost."""
    state = MemoryState()
    await state.open()
    locks, asked = Locks(state, CLAIM), message()
    placed = await state.admit(
        asked.conversation, asked.inbound(), Could(trigger=True), Policy(), op="1", claim=CLAIM
    )
    assert isinstance(placed, Placed)
    assert placed.turnover.started is not None
    with capture_logs() as logs, locks.hold(placed.turnover.started, time.monotonic()) as held:
        assert await locks.beat()
        state._db.beats.clear()
        assert await locks.beat()
        assert await locks.beat()
        assert held.reason is Ending.LOST
    assert [one["event"] for one in logs] == [WENT_BACK]
    await state.close()


async def test_without_leases_the_store_is_left_alone(store: Store, locks: Locks) -> None:
    """An idle process asks nothing."""
    assert await locks.beat()
    assert store.steps == []


@pytest.fixture
async def beating(store: Store) -> AsyncIterator[Locks]:
    """Give locks with leases of 0.9 s and a running heartbeat."""
    locks = Locks(store.port, Claim(0.9))
    heartbeat = asyncio.create_task(locks.heartbeat())
    yield locks
    heartbeat.cancel()
    await asyncio.wait({heartbeat})


async def test_a_lease_is_kept_alive(store: Store, beating: Locks) -> None:
    """Three times in its life it is renewed."""
    with beating.hold(await start(store, message()), time.monotonic()) as held:
        first = held.deadline
        await wait_until(lambda: held.deadline > first + 0.3, description="it lives on")
        assert held.reason is None


async def test_a_loop_that_stood_still_is_told_of(
    beating: Locks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cog that does not await loses its turns; without a word nobody finds out why."""
    monkeypatch.setattr(locks_module, "LATE", 0.05)
    assert len(beating) == 0
    with capture_logs() as logs:
        await asyncio.sleep(0)  # the heartbeat sleeps now
        time.sleep(0.5)  # noqa: ASYNC251 (what such a cog does)
        await wait_until(lambda: logs, description="a warning")
    assert (logs[0]["log_level"], logs[0]["seconds"] >= 0.1) == ("warning", True)
    assert "to_thread" in logs[0]["event"]


async def test_an_outage_of_a_moment_costs_no_lease(store: Store, beating: Locks) -> None:
    """A renewal that failed is tried again soon, not after another third of the lease."""
    with beating.hold(await start(store, message()), time.monotonic()) as held:
        begun, store.down = time.monotonic(), True
        await wait_until(lambda: store.steps.count("renew") > 1, description="renewals fail")
        store.down = False
        await wait_until(lambda: held.deadline > begun + 0.9, description="it lives on")
        assert held.reason is None
        assert time.monotonic() - begun < 0.6  # before another third of the lease is over


async def test_an_outage_alone_ends_no_turn(store: Store, locks: Locks) -> None:
    """Each holding stops speaking by itself, at its deadline."""
    with locks.hold(await start(store, message()), time.monotonic()) as held:
        store.down = True
        assert not await locks.beat()
        assert held.reason is None


async def test_hints_of_other_processes_end_turns_at_once(store: Store, locks: Locks) -> None:
    """A stop that was admitted elsewhere does not wait for the next heartbeat."""
    asked = message()
    listening = asyncio.create_task(locks.listen())
    with locks.hold(await start(store, asked), time.monotonic()) as held:
        await wait_until(lambda: store.database.listeners, description="we listen")
        elsewhere = store.another().port
        await elsewhere.signal(asked.conversation, asked.id, SignalKind.KILL, by="1", op="k")
        await asyncio.wait_for(asyncio.shield(held.cancelled), 1)
        assert held.reason is Ending.KILLED
    listening.cancel()
    await asyncio.wait({listening})
    assert not store.database.listeners
