"""Acquire and release: a conversation that is held without a turn."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    acquired,
    begin,
    claimed,
    everything,
    finish,
    ids,
    is_due,
    message,
    number,
    op,
    say,
    started,
    twice,
)
from state.errors import LeaseLost
from state.outcomes import Busy, Held, Lost, Placed, Turnover
from state.values import Changes, Lease

pytestmark = pytest.mark.asyncio

#: Callers on each handle in a race.
RACERS = 20


async def test_a_conversation_can_be_held_without_a_turn(
    one: State, two: State, clock: Clock
) -> None:
    """The lease names the conversation, a token and its end; what arrives waits. Contract 1, 17."""
    attempt = op()
    lease = await one.acquire(HERE, op=attempt, claim=CLAIM)
    assert isinstance(lease, Lease)
    assert (lease.conversation, lease.turn) == (HERE, "")
    assert lease.token == f"{number(lease)}-{attempt}"
    assert lease.expires == clock.milliseconds() + LEASE * 1000
    for place in (0, 1):
        assert await say(two, message(f"m{place}")) == Placed(place)
    view = await two.view(HERE)
    assert (view.turn, ids(view.waiting), view.wake) == (None, ["m0", "m1"], LEASE)


async def test_what_waits_does_not_keep_a_conversation_from_being_held(
    one: State, two: State
) -> None:
    """Nor is it lost by that: it starts with the release. Contract 1, 22."""
    await say(one, message("m1"), claim=None)
    lease = await acquired(two)
    assert await one.claim(HERE, op=op(), claim=CLAIM) == Busy(LEASE)
    assert started(await two.release(lease, op=op(), claim=CLAIM)).lease.turn == "m1"


async def test_a_held_conversation_cannot_be_acquired(one: State, two: State, clock: Clock) -> None:
    """Whoever holds it, with or without a turn; the refusal says for how long. Contract 2, 75."""
    await acquired(one)
    clock.move(4)
    before = await everything(one)
    assert await two.acquire(HERE, op=op(), claim=CLAIM) == Busy(LEASE - 4)
    assert await everything(one) == before
    clock.move(LEASE - 4)
    await begin(one, message("m1"))
    assert await two.acquire(HERE, op=op(), claim=CLAIM) == Busy(LEASE)


async def test_an_unfinished_turn_keeps_a_conversation_from_being_acquired(
    one: State, two: State
) -> None:
    """Parked, expired or backing off: it has to be taken up first. Contract 2, 43, 50."""
    lease = (await begin(one, message("m1"))).lease
    await one.park(lease, op=op())
    assert await two.acquire(HERE, op=op(), claim=CLAIM) == Busy(0)
    lease = (await claimed(one)).lease
    await one.fail(lease, "no", Changes(), retry_in=60, limit=9, op=op(), claim=CLAIM)
    assert await two.acquire(HERE, op=op(), claim=CLAIM) == Busy(60)


async def test_a_released_conversation_can_be_acquired_again(one: State, two: State) -> None:
    """Under a greater number; nothing is left of it in between. Contract 3, 10, 51."""
    before = await everything(one)
    first = await acquired(one)
    assert await one.release(first, op=op(), claim=CLAIM) == Turnover()
    assert await everything(one) == before
    assert number(await acquired(two)) > number(first)


async def test_an_acquired_lease_can_be_renewed(one: State, two: State, clock: Clock) -> None:
    """As any other, and lost as any other. Contract 5, 6, 7."""
    lease = await acquired(one)
    clock.move(8)
    assert await one.renew([lease], LEASE) == [Held()]
    clock.move(LEASE - 1)
    assert await two.acquire(HERE, op=op(), claim=CLAIM) == Busy(1)
    clock.move(1)
    assert await one.renew([lease], LEASE) == [Lost()]
    assert number(await acquired(two)) > number(lease)
    assert await one.renew([lease], LEASE) == [Lost()]


async def test_a_conversation_whose_acquirer_died_is_due(
    one: State, two: State, clock: Clock
) -> None:
    """When the lease ends, so that what waited is started. Contract 5, 47, 51."""
    await acquired(one)
    await say(one, message("m1"))
    clock.move(LEASE - 0.125)
    assert not await is_due(two)
    clock.move(0.125)
    assert await is_due(two)
    assert (await claimed(two)).lease.turn == "m1"


async def test_an_expired_hold_stops_nobody(one: State, two: State, clock: Clock) -> None:
    """A message that comes after it starts at once. Contract 5, 16."""
    await acquired(one)
    clock.move(LEASE)
    assert (await begin(two, message("m1"))).lease.turn == "m1"


async def test_a_release_hands_over(one: State, two: State, clock: Clock) -> None:
    """The oldest that waits is started under a whole lease; the old token is dead. Contract 36."""
    lease = await acquired(one)
    await say(two, message("m1"))
    await say(two, message("m2"))
    clock.move(6)
    attempt = op()
    start = started(await one.release(lease, op=attempt, claim=CLAIM))
    assert (start.lease.turn, start.waited) == ("m1", 6)
    assert start.lease.token == f"{number(start.lease)}-{attempt}"
    assert start.lease.expires == clock.milliseconds() + LEASE * 1000
    assert await one.renew([lease, start.lease], LEASE) == [Lost(), Held()]


async def test_a_draining_release_leaves_what_waits_due(one: State, two: State) -> None:
    """A claim of None starts nothing. Contract 37, 51."""
    lease = await acquired(one)
    await say(one, message("m1"))
    assert await one.release(lease, op=op(), claim=None) == Turnover()
    assert await is_due(two)
    assert (await claimed(two)).lease.turn == "m1"


async def test_only_a_living_acquired_lease_is_released(
    one: State, two: State, clock: Clock
) -> None:
    """A stale, foreign or expired token is refused and changes nothing. Contract 4, 38, 75."""

    async def refused(lease: Lease) -> None:
        before = await everything(one)
        with pytest.raises(LeaseLost):
            await one.release(lease, op=op(), claim=CLAIM)
        assert await everything(one) == before

    lease = await acquired(one)
    await say(one, message("m1"))
    await refused(replace(lease, token=f"{number(lease)}-{op()}"))
    clock.move(LEASE)
    await refused(lease)
    await claimed(two)
    await refused(lease)


async def test_an_acquired_lease_holds_no_turn(one: State, two: State) -> None:
    """Every step on a turn is refused and changes nothing. Contract 38, 75."""
    lease = await acquired(one)
    await say(two, message("m1"))
    changes = Changes(state=b"trace", transcript=(b"trace",))
    steps: list[Callable[[], Awaitable[object]]] = [
        lambda: one.record(lease, "a", "1", b"x"),
        lambda: one.page(lease, 0, 0, b"x"),
        lambda: one.posted(lease, 0, 0, "900"),
        lambda: one.take(lease, "k"),
        lambda: one.commit(lease, changes, op=op(), claim=CLAIM),
        lambda: one.fail(lease, "no", changes, retry_in=9, limit=9, op=op(), claim=CLAIM),
        lambda: one.supersede(lease, op=op(), claim=CLAIM, changes=changes),
        lambda: one.park(lease, op=op()),
    ]
    before = await everything(two)
    for step in steps:
        with pytest.raises(LeaseLost):
            await step()
    assert await everything(two) == before
    assert await one.renew([lease], LEASE) == [Held()]


async def test_of_many_racing_acquirers_exactly_one_wins(one: State, two: State) -> None:
    """All others are told for how long it is held. Contract 8."""
    answers = await asyncio.gather(
        *(state.acquire(HERE, op=op(), claim=CLAIM) for _ in range(RACERS) for state in (one, two))
    )
    assert sum(isinstance(answer, Lease) for answer in answers) == 1
    assert answers.count(Busy(LEASE)) == 2 * RACERS - 1


async def test_an_acquire_sent_twice(one: State, two: State) -> None:
    """The holder is told again of its own lease, not that it is busy. Contract 73."""
    own = op()
    lease = await twice(one, two, lambda state: state.acquire(HERE, op=own, claim=CLAIM))
    assert isinstance(lease, Lease)
    assert await two.renew([lease], LEASE) == [Held()]


async def test_a_release_sent_twice(one: State, two: State) -> None:
    """It starts one turn, not the one after it too. Contract 37, 73."""
    lease = await acquired(one)
    await say(one, message("m1"))
    await say(one, message("m2"))
    own = op()
    answer = await twice(one, two, lambda state: state.release(lease, op=own, claim=CLAIM))
    await finish(one, started(answer).lease)
    assert await one.release(lease, op=own, claim=CLAIM) == answer
    turn = (await two.view(HERE)).turn
    assert turn is not None
    assert turn.id == "m2"


async def test_a_lease_on_a_turn_is_not_released(one: State, two: State) -> None:
    """It is given back with the turn's end, else the turn would be lost with it. Contract 4, 75."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    before = await everything(one)
    with pytest.raises(LeaseLost):
        await two.release(lease, op=op(), claim=CLAIM)
    assert await everything(one) == before
    assert started(await finish(one, lease)).lease.turn == "m2"
