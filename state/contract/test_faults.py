"""A store that is away, full, emptied, set back, or of a version that is yet to come."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import pytest

from state import State
from state.contract.factory import Clock, StateFactory
from state.contract.faults import Faults
from state.contract.scene import (
    CLAIM,
    ELSEWHERE,
    HERE,
    LEASE,
    ROOMY,
    THERE,
    TRIGGER,
    begin,
    claimed,
    everything,
    finish,
    ids,
    is_due,
    message,
    number,
    op,
    placed,
    say,
    started,
)
from state.errors import LeaseLost, StateInvalid, StateUnavailable
from state.outcomes import Busy, Held, Lost
from state.values import Changes, Lease

pytestmark = pytest.mark.asyncio

#: Seconds within which a call has an answer or an error, on however busy a machine.
#: Relation: three times the 5 s of the port.
PATIENCE = 15.0

#: Bytes of which no store has room left by chance.
BULKY = b"x" * 500_000


# --- clocks --------------------------------------------------------------------------------------


@contextmanager
def host_clock_off_by(seconds: float) -> Iterator[None]:
    """Let this host's wall clock be wrong until the block ends."""
    right = time.time
    with patch.object(time, "time", lambda: right() + seconds):
        yield


async def test_the_clock_of_a_host_decides_nothing(one: State, two: State, clock: Clock) -> None:
    """
    Whether it is 20 s fast or slow.

    Who holds, who is refused and what is due is the store's to say. Contract 12.
    """
    for skew in (20.0, -20.0):
        with host_clock_off_by(skew):
            held = (await begin(one, message(f"m{skew}"))).lease
            assert await two.claim(HERE, op=op(), claim=CLAIM) == Busy(LEASE)
            assert await one.renew([held], LEASE) == [Held()]
            assert not await is_due(one)
        with host_clock_off_by(-skew):
            assert await one.renew([held], LEASE) == [Held()]
            assert await two.claim(HERE, op=op(), claim=CLAIM) == Busy(LEASE)
            clock.move(LEASE)
            assert await is_due(two)
            taken = (await claimed(two)).lease
            assert await one.renew([held, taken], LEASE) == [Lost(), Held()]
            await finish(two, taken)


# --- away ----------------------------------------------------------------------------------------


async def test_a_store_that_is_away_is_an_error_and_works_again(
    one: State, two: State, faults: Faults
) -> None:
    """
    Every step says that it does not know, in time; a repeat is answered once the store is back.

    No handle is opened anew for that. Contract 77.
    """
    held = (await begin(one, message("m1"))).lease
    admit = partial(one.admit, THERE, message("m2"), TRIGGER, ROOMY, op=op(), claim=CLAIM)
    await faults.stop()
    try:
        steps = [
            admit(),
            one.renew([held], LEASE),
            one.record(held, "a", "b", b"c"),
            two.claim(HERE, op=op(), claim=CLAIM),
            two.subscribe(ELSEWHERE),
        ]
        async with asyncio.timeout(PATIENCE):
            told = await asyncio.gather(*steps, return_exceptions=True)
    finally:
        await faults.start()
    assert [type(answer) for answer in told] == [StateUnavailable] * len(told), told
    assert ids(started(await admit()).inbounds) == ["m2"]
    assert await one.renew([held], LEASE) == [Held()]
    assert await one.record(held, "a", "b", b"c") == b"c"
    assert isinstance(await two.claim(HERE, op=op(), claim=CLAIM), Busy)


# --- full ----------------------------------------------------------------------------------------


async def test_a_full_store_takes_nothing_new_and_lets_turns_end(
    one: State, two: State, faults: Faults
) -> None:
    """
    A new message is an error that changed nothing; holders keep their leases, end and hand over.

    Which makes room again. Contract 78.
    """
    held = (await begin(one, message("m1", payload=BULKY))).lease
    await say(one, message("m2"))
    await faults.fill()
    try:
        before = await everything(two, THERE)
        with pytest.raises(StateUnavailable):
            await say(two, message("m3", payload=BULKY), at=THERE)
        assert await everything(two, THERE) == before
        assert await one.renew([held], LEASE) == [Held()]
        after = started(await finish(one, held, Changes(state=b"s", transcript=(b"t",))))
        assert ids(after.inbounds) == ["m2"]
        assert (await finish(one, after.lease)).started is None
    finally:
        await faults.make_room()
    assert placed(await say(two, message("m3", payload=BULKY), at=THERE)).turnover.started


# --- gone back -----------------------------------------------------------------------------------


async def test_holders_of_a_store_that_was_emptied_are_refused(
    one: State, two: State, clock: Clock, faults: Faults
) -> None:
    """And what is said from then on is answered, under tokens that still grow. Contract 79."""
    stale = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    await faults.flush()
    clock.move(1 / 8)
    assert await one.renew([stale], LEASE) == [Lost()]
    new = (await begin(two, message("m3"))).lease
    assert number(new) > number(stale)
    await refused_everywhere(one, stale)
    assert await two.renew([new], LEASE) == [Held()]
    await finish(two, new)
    assert not await is_due(one)
    again = await begin(one, message("m1"))  # nobody knows that it was there
    await finish(one, again.lease)


async def test_holders_that_a_restored_copy_does_not_know_are_refused(
    one: State, two: State, clock: Clock, faults: Faults
) -> None:
    """
    Nobody gets their token again.

    And nobody overlaps with whom the copy knows. Contract 11, 79.
    """
    await begin(one, message("m1"))
    await faults.copy()
    clock.move(LEASE)
    stale = (await claimed(two)).lease
    lost = (await begin(two, message("m2"), at=THERE)).lease
    await faults.restore()
    assert await two.renew([stale, lost], LEASE) == [Lost(), Lost()]
    await refused_everywhere(two, stale)
    clock.move(1 / 8)
    again = await claimed(one)
    assert ids(again.inbounds) == ["m1"]
    assert number(again.lease) > number(stale)
    await refused_everywhere(two, stale)
    await finish(one, again.lease)
    assert (await begin(two, message("m2"), at=THERE)).lease.token != lost.token


async def refused_everywhere(state: State, lease: Lease) -> None:
    """Try what a holder may do: all of it must be refused."""
    for step in (
        lambda: state.record(lease, "a", "b", b"c"),
        lambda: state.page(lease, 0, 0, b"c"),
        lambda: state.take(lease, "k"),
        lambda: state.commit(lease, Changes(), op=op(), claim=None),
    ):
        with pytest.raises(LeaseLost):
            await step()


# --- of another version --------------------------------------------------------------------------


async def test_a_newer_schema_is_refused(
    state_contract: StateFactory, clock: Clock, faults: Faults
) -> None:
    """At the start, in one line that names it and what this code knows. Contract 81."""
    before = state_contract.make(clock)
    await before.open()
    await before.close()
    await faults.newer()
    state = state_contract.make(clock)
    with pytest.raises(StateInvalid, match=r"\b99\b.*\b\d+\b") as refused:
        await state.open()
    assert "\n" not in str(refused.value)
    await state.close()
