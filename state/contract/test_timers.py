"""Timers: inbounds with a time."""

import asyncio

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    THERE,
    acquired,
    begin,
    claimed,
    everything,
    finish,
    ids,
    is_due,
    message,
    op,
    placed,
    say,
    started,
    taken_over,
)
from state.errors import Unacceptable
from state.outcomes import Busy, Turnover
from state.ports import CATCH_UP_LIMIT
from state.values import SHORTEST_CADENCE, CatchUp, Changes, Conversation, Inbound, Timer

pytestmark = pytest.mark.asyncio


def timer(
    id: str = "t1",  # noqa: A002
    delay: float = 8.0,
    *,
    every: float | None = None,
    catch_up: CatchUp = CatchUp.LATEST,
) -> Timer:
    """Return a timer that speaks for ann."""
    return Timer(id, Inbound("anything", "ann", b"ring"), delay, every, catch_up)


async def test_a_timer_fires_at_its_time(one: State, two: State, clock: Clock) -> None:
    """Neither before nor without a wake; then it is an inbound like any other. Contract 51, 52."""
    generation = await one.schedule(HERE, timer(), op=op())
    assert (await two.view(HERE)).wake == 8
    clock.move(7.875)
    assert not await is_due(two)
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Turnover()
    clock.move(0.125)
    assert await is_due(two)
    start = await claimed(two)
    assert start.inbounds == (Inbound(f"t1@{generation}.0", "ann", b"ring"),)
    assert start.lease.turn == f"t1@{generation}.0"
    assert await finish(two, start.lease) == Turnover()
    clock.move(3600)
    assert await one.claim(HERE, op=op(), claim=CLAIM) == Turnover()
    assert ((await one.view(HERE)).wake, await is_due(one)) == (None, False)


async def test_a_timer_fires_once_over_two_schedulers(one: State, two: State, clock: Clock) -> None:
    """Of two that saw it due, one is given the turn. Contract 48, 52."""
    await one.schedule(HERE, timer(), op=op())
    clock.move(8)
    answers = await asyncio.gather(
        *(state.claim(HERE, op=op(), claim=CLAIM) for state in (one, two))
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["Busy", "Turnover"]
    assert (await one.view(HERE)).waiting == ()


async def test_a_timer_that_fired_survives_its_holder(one: State, two: State, clock: Clock) -> None:
    """A crash after the hand-over repeats the turn, not the timer. Contract 47, 52."""
    generation = await one.schedule(HERE, timer(), op=op())
    clock.move(8)
    await claimed(one)
    again = await taken_over(two, clock)
    assert again.lease.turn == f"t1@{generation}.0"
    assert await finish(two, again.lease) == Turnover()


async def test_a_timer_that_is_due_waits_for_its_turn(one: State, two: State, clock: Clock) -> None:
    """Behind the turn that runs, and behind what came before it. Contract 22, 52."""
    lease = (await begin(one, message("m1"))).lease
    generation = await two.schedule(HERE, timer(delay=4), op=op())
    assert (await two.view(HERE)).wake == LEASE
    await say(two, message("m2", "bob"))
    clock.move(8)
    lease = started(await finish(one, lease)).lease
    assert lease.turn == "m2"
    assert ids((await two.view(HERE)).waiting) == [f"t1@{generation}.0"]
    assert started(await finish(one, lease)).lease.turn == f"t1@{generation}.0"


async def test_a_message_finds_a_timer_that_is_due(one: State, two: State, clock: Clock) -> None:
    """Whatever hands over first promotes it; the message that did is before it. Contract 22, 52."""
    generation = await one.schedule(HERE, timer(), op=op())
    clock.move(9)
    answer = placed(await say(two, message("m1")))
    assert started(answer).lease.turn == "m1"
    assert ids((await two.view(HERE)).waiting) == [f"t1@{generation}.0"]


async def test_timers_that_are_due_come_in_the_order_of_their_times(
    one: State, clock: Clock
) -> None:
    """Not of their names or of their making. Contract 22, 52."""
    for id_, delay in (("b", 6), ("a", 9), ("c", 3)):
        await one.schedule(HERE, timer(id_, delay), op=op())
    clock.move(9)
    start = await claimed(one)
    waiting = (await one.view(HERE)).waiting
    assert [i.id[0] for i in (*start.inbounds, *waiting)] == ["c", "b", "a"]


async def test_a_timer_is_beyond_the_bounds(one: State, two: State, clock: Clock) -> None:
    """It was promised, so neither depth nor share refuses it. Contract 20, 52."""
    lease = (await begin(one, message("m1"))).lease
    for n in range(30):
        await one.schedule(HERE, timer(f"t{n}", 1 + n / 8), op=op())
    clock.move(8)
    await finish(one, lease)
    assert len((await two.view(HERE)).waiting) == 29


async def test_setting_a_timer_again_replaces_it(one: State, two: State, clock: Clock) -> None:
    """Time and content; its generation grows, so that the two are told apart. Contract 52."""
    first = await one.schedule(HERE, timer(delay=4), op=op())
    clock.move(2)
    other = Timer("t1", Inbound("other", "bob", b"moved"), 16)
    second = await two.schedule(HERE, other, op=op())
    assert second > first
    assert (await one.view(HERE)).wake == 16
    clock.move(16)
    start = await claimed(one)
    assert start.inbounds == (Inbound(f"t1@{second}.0", "bob", b"moved"),)
    assert await finish(one, start.lease) == Turnover()


async def test_a_timer_set_again_after_it_fired_is_another(
    one: State, two: State, clock: Clock
) -> None:
    """Its inbound is no duplicate of the first one's. Contract 18, 52."""
    turns = []
    for state in (one, two):
        await state.schedule(HERE, timer(), op=op())
        clock.move(8)
        lease = (await claimed(state)).lease
        turns.append(lease.turn)
        await finish(state, lease)
    assert len(set(turns)) == 2


async def test_a_timer_can_be_deleted(one: State, two: State, clock: Clock) -> None:
    """Before it fires; afterwards, or where there was none, it is told. Contract 52, 51."""
    before = await everything(one)
    await one.schedule(HERE, timer(), op=op())
    assert await two.unschedule(HERE, "t1")
    assert await everything(one) == before
    clock.move(8)
    assert await one.claim(HERE, op=op(), claim=CLAIM) == Turnover()
    assert not await two.unschedule(HERE, "t1")
    await one.schedule(HERE, timer(delay=1), op=op())
    clock.move(1)
    lease = (await claimed(one)).lease
    assert not await two.unschedule(HERE, "t1")
    await finish(one, lease)


async def test_deleting_a_timer_leaves_the_others(one: State, two: State) -> None:
    """And the wake is that of the first that stays. Contract 51, 52."""
    for id_, delay in (("a", 3), ("b", 6), ("aa", 9)):
        await one.schedule(HERE, timer(id_, delay), op=op())
    await one.schedule(THERE, timer("a", 4), op=op())
    await two.unschedule(HERE, "a")
    assert ((await two.view(HERE)).wake, (await two.view(THERE)).wake) == (6, 4)
    await two.unschedule(HERE, "b")
    assert (await two.view(HERE)).wake == 9


async def test_a_recurring_timer_keeps_its_cadence(one: State, two: State, clock: Clock) -> None:
    """However late an occurrence is taken up, the next is when it would have been. Contract 52."""
    generation = await one.schedule(HERE, timer(delay=4, every=10), op=op())
    clock.move(4)
    for n, late in enumerate((0, 3, 0.5)):
        clock.move(late)
        lease = (await claimed((one, two)[n % 2])).lease
        assert lease.turn == f"t1@{generation}.{n}"
        await finish(one, lease)
        assert (await two.view(HERE)).wake == 10 - late
        clock.move(10 - late)


async def test_a_recurring_timer_tells_of_the_latest_it_missed(one: State, clock: Clock) -> None:
    """One inbound for all that nobody was there for. Contract 52."""
    generation = await one.schedule(HERE, timer(delay=4, every=10), op=op())
    clock.move(4 + 35)
    start = await claimed(one)
    assert ids(start.inbounds) == [f"t1@{generation}.3"]
    assert (await one.view(HERE)).waiting == ()
    assert await finish(one, start.lease) == Turnover()
    assert (await one.view(HERE)).wake == 5


async def test_a_recurring_timer_can_make_up_for_each(one: State, clock: Clock) -> None:
    """An inbound for every one it missed, in order. Contract 52."""
    each = timer(delay=4, every=10, catch_up=CatchUp.EACH)
    generation = await one.schedule(HERE, each, op=op())
    clock.move(4 + 35)
    start = await claimed(one)
    told = ids((*start.inbounds, *(await one.view(HERE)).waiting))
    assert told == [f"t1@{generation}.{n}" for n in range(4)]


async def test_what_a_timer_makes_up_for_is_bounded(one: State, clock: Clock) -> None:
    """After a year only the newest are told. Contract 52."""
    each = timer(delay=0, every=10, catch_up=CatchUp.EACH)
    generation = await one.schedule(HERE, each, op=op())
    clock.move(10 * 1000)
    start = await claimed(one)
    told = ids((*start.inbounds, *(await one.view(HERE)).waiting))
    assert told == [f"t1@{generation}.{n}" for n in range(1001 - CATCH_UP_LIMIT, 1001)]


async def test_a_cadence_that_would_never_let_go_is_refused(one: State) -> None:
    """And ids that no store could hold; the shortest that is allowed works. Contract 52, 75."""
    for every in (0.0, -1.0, 0.0001):
        with pytest.raises(Unacceptable):
            timer(every=every)
    for id_ in ("", "a b", "{t}"):
        with pytest.raises(Unacceptable):
            timer(id_)
    await one.schedule(HERE, timer(delay=0, every=SHORTEST_CADENCE), op=op())
    lease = (await claimed(one)).lease
    await finish(one, lease)
    assert (await one.view(HERE)).wake == SHORTEST_CADENCE


async def test_a_commit_sets_and_deletes_timers(one: State, two: State, clock: Clock) -> None:
    """Their delays count from the commit; they land with it or not at all. Contract 35, 52."""
    await one.schedule(HERE, timer("old", 30), op=op())
    lease = (await begin(one, message("m1"))).lease
    clock.move(6)
    changes = Changes(timers=(timer("new", 5, every=7),), unschedule=("old", "none"))
    await finish(one, lease, changes)
    assert (await two.view(HERE)).wake == 5
    listed = (await two.schedules(HERE.owner)).timers
    assert [(s.timer.id, s.due_in) for s in listed] == [("new", 5)]
    clock.move(5)
    assert (await claimed(two)).lease.turn == f"new@{listed[0].generation}.0"


async def test_a_commit_that_only_sets_a_timer_leaves_a_wake(one: State, two: State) -> None:
    """Whether the process goes on or drains. Contract 37, 51."""
    for n, claim in enumerate((CLAIM, None)):
        home = Conversation("guild/1", f"c{n}")
        lease = (await begin(one, message("m1"), at=home)).lease
        await finish(one, lease, Changes(timers=(timer(delay=9),)), claim=claim)
        wake = (await two.view(home)).wake
        assert wake is not None
        assert wake <= 9


async def test_a_timer_is_not_missed_by_a_held_conversation(
    one: State, two: State, clock: Clock
) -> None:
    """The release that ends the hold promotes it. Contract 51, 52."""
    lease = await acquired(one)
    await two.schedule(HERE, timer(), op=op())
    assert (await two.view(HERE)).wake == LEASE
    clock.move(8)
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Busy(LEASE - 8)
    assert started(await one.release(lease, op=op(), claim=CLAIM)).lease.turn.startswith("t1@")
