"""A process that lives through a restore of its store builds on nothing that it was told since."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.faults import Faults
from state.contract.scene import (
    ELSEWHERE,
    HERE,
    LEASE,
    THERE,
    acquired,
    begin,
    claimed,
    due,
    finish,
    ids,
    is_due,
    message,
    say,
    started,
)
from state.errors import LeaseLost
from state.outcomes import Held, Lost
from state.ports import BEAT_WINDOW, WENT_BACK

pytestmark = pytest.mark.asyncio


async def test_a_turn_whose_journal_went_back_is_begun_again(
    one: State, two: State, clock: Clock, faults: Faults
) -> None:
    """
    Its holder has in mind what the store knows no more, and would leave it to be answered twice.

    The turn is due at once, and no expiry is counted. Contract 11, 79.
    """
    held = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    await faults.copy()
    assert ids(await one.take(held, "gather")) == ["m2"]
    await one.record(held, "ask", "1", b"x")
    assert await one.renew([held], LEASE) == [Held()]
    clock.move(1 / 8)
    await faults.restore()
    assert await one.renew([held], LEASE) == [Lost()]
    with pytest.raises(LeaseLost):
        await one.record(held, "ask", "2", b"y")
    with pytest.raises(LeaseLost):
        await finish(one, held)
    assert await is_due(two)
    again = await claimed(two)
    assert (again.steps, ids(again.inbounds)) == ((), ["m1"])
    after = started(await finish(two, again.lease))
    assert ids(after.inbounds) == ["m2"]
    await finish(two, after.lease)


async def test_all_leases_of_before_are_lost_and_later_ones_hold(
    one: State, two: State, clock: Clock, faults: Faults
) -> None:
    """Also those without a turn; other processes lose theirs when they notice. Contract 11, 79."""
    mine = [(await begin(one, message(f"m{n}"), at=at)).lease for n, at in enumerate((HERE, THERE))]
    mine.append(await acquired(one, at=ELSEWHERE))
    await faults.copy()
    assert await one.renew(mine, LEASE) == [Held()] * 3
    clock.move(1 / 8)
    await faults.restore()
    new = await acquired(two, at=type(HERE)("guild/1", "12"))
    assert await two.renew([new], LEASE) == [Held()], "this process has nothing to notice"
    assert await one.renew(mine, LEASE) == [Lost()] * 3
    for at in (HERE, THERE, ELSEWHERE):
        assert at in (await due(two, at)).conversations
    for at in (HERE, THERE):
        lease = (await claimed(one, at=at)).lease
        assert await one.renew([lease], LEASE) == [Held()]
        assert await one.renew([lease], LEASE) == [Held()]
    assert await two.renew([new], LEASE) == [Held()]


async def test_whoever_notices_tells_the_operator(one: State, two: State, faults: Faults) -> None:
    """Once, after what was known when the store was opened. Contract 79."""
    held = (await begin(one, message("m1"))).lease
    before = one.notices
    assert WENT_BACK not in before
    await one.renew([held], LEASE)
    assert one.notices == before
    await faults.flush()
    for _ in range(2):
        assert await one.renew([held], LEASE) == [Lost()]
    assert one.notices == (*before, WENT_BACK)
    assert WENT_BACK not in two.notices


async def test_a_process_that_rested_for_long_notices_nothing(one: State, clock: Clock) -> None:
    """How far it came is forgotten in time, and that is no sign of a restore. Contract 6."""
    held = (await begin(one, message("m1"))).lease
    assert await one.renew([held], LEASE) == [Held()]
    await finish(one, held)
    clock.move(BEAT_WINDOW + 1)
    held = (await begin(one, message("m2"))).lease
    assert await one.renew([held], LEASE) == [Held()]
