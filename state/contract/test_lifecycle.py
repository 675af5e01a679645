"""Opening, closing and starting again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from state import State
from state.contract.factory import Clock, StateFactory
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    ROOMY,
    TRIGGER,
    begin,
    claimed,
    everything,
    finish,
    message,
    op,
    say,
    taken_over,
)
from state.errors import StateUnavailable
from state.outcomes import Duplicate
from state.values import Changes, Lease, SignalKind

pytestmark = pytest.mark.asyncio


async def test_opening_twice_is_opening(state_contract: StateFactory, clock: Clock) -> None:
    """One after the other, and many at once, which share one attempt. Contract 82."""
    state = state_contract.make(clock)
    await asyncio.gather(*(state.open() for _ in range(5)))
    await state.open()
    try:
        await state.ping()
        await begin(state, message("m1"))
    finally:
        await state.close()


async def test_closing_twice_is_closing(state_contract: StateFactory, clock: Clock) -> None:
    """The second does nothing; so does closing what was never opened. Contract 82."""
    state = state_contract.make(clock)
    await state.close()
    await state.open()
    await state.close()
    await state.close()


async def test_use_before_opening_is_an_error_that_says_so(
    state_contract: StateFactory, clock: Clock
) -> None:
    """As is use after closing; nothing is opened by accident. Contract 82."""
    state = state_contract.make(clock)
    await every_use_is_refused(state)
    await state.open()
    await state.close()
    await every_use_is_refused(state)


async def every_use_is_refused(state: State) -> None:
    """Try steps of every kind on a handle that is not open."""
    lease = Lease(HERE, "m1", f"1-{op()}", 0)
    uses: list[Callable[[], Awaitable[object]]] = [
        state.ping,
        lambda: state.admit(HERE, message("m1"), TRIGGER, ROOMY, op=op(), claim=CLAIM),
        lambda: state.claim(HERE, op=op(), claim=CLAIM),
        lambda: state.renew([lease], LEASE),
        lambda: state.record(lease, "a", "b", b"c"),
        lambda: state.commit(lease, Changes(), op=op(), claim=None),
        lambda: state.signal(HERE, "m1", SignalKind.STOP, by="ann", op=op()),
        lambda: state.due(0, 1),
        lambda: state.view(HERE),
        lambda: state.history(HERE),
        lambda: state.subscribe(HERE),
        state.subscriptions,
    ]
    for use in uses:
        with pytest.raises(StateUnavailable, match="open"):
            await use()


async def test_closing_one_handle_leaves_the_others_open(one: State, two: State) -> None:
    """What it held stays held until its lease ends. Contract 82."""
    lease = (await begin(one, message("m1"))).lease
    await one.close()
    await two.ping()
    assert await two.record(lease, "a", "b", b"c") == b"c"


async def test_everything_survives_a_restart(state_contract: StateFactory, clock: Clock) -> None:
    """Turns, steps, inbox, marks, state and transcript are the store's. Contract 18, 22, 47."""
    before = state_contract.make(clock)
    await before.open()
    first = await begin(before, message("m1"))
    await finish(before, first.lease, Changes(state=b"s", state_version=2, transcript=(b"t",)))
    lease = (await begin(before, message("m2"))).lease
    await before.record(lease, "ask", "1", b"x")
    await before.page(lease, 0, 0, b"y")
    await before.posted(lease, 0, 0, "900")
    await say(before, message("m3"))
    await before.subscribe(HERE)
    seen = await everything(before)
    await before.close()

    after = state_contract.make(clock)
    await after.open()
    try:
        assert await everything(after) == seen
        for again in ("m1", "m2", "m3"):
            assert await say(after, message(again)) == Duplicate("m2")
        start = await taken_over(after, clock)
        assert (start.lease.turn, start.state, start.state_version) == ("m2", b"s", 2)
        assert [step.value for step in start.steps] == [b"x"]
        assert [page.message_id for page in start.pages] == ["900"]
    finally:
        await after.close()


async def test_an_answer_survives_a_restart(state_contract: StateFactory, clock: Clock) -> None:
    """A step may be sent again by another process than the one that died. Contract 37, 73."""
    before = state_contract.make(clock)
    await before.open()
    own = op()
    answer = await before.admit(HERE, message("m1"), TRIGGER, ROOMY, op=own, claim=CLAIM)
    await before.close()
    after = state_contract.make(clock)
    await after.open()
    try:
        repeated = await after.admit(HERE, message("m1"), TRIGGER, ROOMY, op=own, claim=CLAIM)
        assert repeated == answer
        clock.move(LEASE)
        await claimed(after)
    finally:
        await after.close()


async def test_every_handle_knows_the_number_of_partitions(one: State, two: State) -> None:
    """It was fixed when the store was created. Contract 76."""
    assert one.partitions == two.partitions
    assert one.partitions >= 1
