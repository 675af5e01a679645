"""Timers as they are listed, and as they are sent twice."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    ELSEWHERE,
    HERE,
    claimed,
    due,
    everything,
    op,
    twice,
)
from state.contract.test_timers import timer
from state.listings import Scheduled
from state.values import CatchUp, Conversation, Inbound, Timer

pytestmark = pytest.mark.asyncio


async def test_timers_are_listed_as_they_were_set(one: State, two: State, clock: Clock) -> None:
    """With the time of the next occurrence, negative when it is overdue. Contract 31, 67."""
    first = timer("a", 4, every=10, catch_up=CatchUp.EACH)
    second = Timer("b", Inbound("b", "bob", b"\0\xff"), 2.5)
    generations = [await one.schedule(HERE, t, op=op()) for t in (first, second)]
    clock.move(3)
    listed = (await two.schedules(HERE.owner)).timers
    assert listed == (
        Scheduled(HERE, first, generations[0], 1.0),
        Scheduled(HERE, second, generations[1], -0.5),
    )
    clock.move(1)
    await claimed(one)
    assert [s.due_in for s in (await two.schedules(HERE.owner)).timers] == [10]


async def test_timers_are_listed_by_owner_and_page(one: State, two: State) -> None:
    """Each once, whatever others have whose names begin alike. Contract 67, 68."""
    homes = [Conversation("guild/1", f"c{n}") for n in range(4)]
    for home in homes:
        for id_ in ("a", "b", "ab"):
            await one.schedule(home, timer(id_), op=op())
    for owner in ("guild/12", "guild", "guild/2"):
        for n in range(5):
            await one.schedule(Conversation(owner, f"c{n}"), timer(), op=op())
    found, cursor = [], None
    for _ in range(3):
        page = await two.schedules("guild/1", cursor, 5)
        found += [(s.conversation, s.timer.id) for s in page.timers]
        assert len(page.timers) == 5 or page.cursor is None
        cursor = page.cursor
    assert cursor is None
    assert len(found) == len(set(found)) == 12
    assert {home for home, _ in found} == set(homes)
    assert (await two.schedules(ELSEWHERE.owner)).timers == ()


async def test_timers_of_many_conversations_are_due_each(
    one: State, two: State, clock: Clock
) -> None:
    """Earliest first, like everything that is due. Contract 49, 52."""
    homes = [Conversation("guild/1", f"c{n}") for n in (2, 0, 1)]
    for n, home in enumerate(homes):
        await one.schedule(home, timer(delay=1 + n), op=op())
    clock.move(2)
    assert (await due(two)).conversations == tuple(homes[:2])


async def test_a_schedule_sent_twice(one: State, two: State) -> None:
    """One timer of one generation. Contract 73."""
    own = op()
    await twice(one, two, lambda state: state.schedule(HERE, timer(), op=own))
    later = op()
    await one.schedule(HERE, timer(), op=later)
    before = await everything(one)
    await two.schedule(HERE, timer(), op=own)
    assert await everything(one) == before


async def test_an_unschedule_sent_twice(one: State, two: State) -> None:
    """It deletes once; the repeat finds nothing left. Contract 73."""
    await one.schedule(HERE, timer(), op=op())
    assert await one.unschedule(HERE, "t1")
    before = await everything(one)
    assert not await two.unschedule(HERE, "t1")
    assert await everything(one) == before
