"""Wakes: pending work is always looked at again, the earliest first, and idle is left alone."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    ELSEWHERE,
    FOLLOW_UP,
    HERE,
    LEASE,
    THERE,
    begin,
    claimed,
    due,
    everything,
    finish,
    is_due,
    message,
    op,
    say,
    started,
)
from state.outcomes import Due
from state.partition import partition_of
from state.values import Changes, Conversation, SignalKind

pytestmark = pytest.mark.asyncio


async def test_an_untouched_conversation_has_no_wake(one: State) -> None:
    """Nothing is pending, nothing is due, nothing is shown. Contract 51."""
    view = (await everything(one)).view
    assert (view.turn, view.waiting, view.wake, view.dead_letters) == (None, (), None, 0)
    assert await due(one) == Due((), ())


async def test_pending_work_always_has_a_wake(one: State, two: State, clock: Clock) -> None:
    """After each step that leaves a turn or a message behind. Contract 51."""

    async def pending(seconds: float) -> None:
        assert (await two.view(HERE)).wake == seconds

    await say(one, message("m1"), claim=None)
    await pending(0)
    lease = (await claimed(one)).lease
    await pending(LEASE)
    await say(two, message("m2"), could=FOLLOW_UP)
    await pending(LEASE)
    lease = started(await one.supersede(lease, op=op(), claim=CLAIM)).lease
    await pending(LEASE)
    await one.renew([lease], 99)
    await pending(99)
    await one.fail(lease, "no", Changes(), retry_in=7, limit=9, op=op(), claim=CLAIM)
    await pending(7)
    await say(two, message("m3", "bob"))
    await pending(7)
    clock.move(7)
    lease = (await claimed(one)).lease
    await one.park(lease, op=op())
    await pending(0)
    await two.signal(HERE, "m2", SignalKind.STOP, by="eve", op=op())
    await pending(0)
    lease = (await claimed(one)).lease
    await say(two, message("m4", "cy"))
    await finish(one, lease, claim=None)
    await pending(0)
    assert (await claimed(one)).lease.turn == "m4"


async def test_an_idle_conversation_has_no_wake(one: State) -> None:
    """However its last turn ended. Contract 51."""
    for n, claim in enumerate((CLAIM, None)):
        await finish(one, (await begin(one, message(f"m{n}"))).lease, claim=claim)
        assert (await one.view(HERE)).wake is None
    lease = (await begin(one, message("m3"))).lease
    await one.fail(lease, "no", Changes(), retry_in=None, limit=1, op=op(), claim=None)
    assert (await one.view(HERE)).wake is None
    assert await due(one) == Due((), ())


async def test_an_admit_never_delays_an_earlier_wake(one: State, two: State, clock: Clock) -> None:
    """Neither a lease's end nor a retry, nor one that is long due. Contract 54."""
    await begin(one, message("m1"))
    clock.move(6)
    await say(two, message("m2"))
    assert (await one.view(HERE)).wake == LEASE - 6
    await say(one, message("m1"), at=THERE, claim=None)
    clock.move(5)
    await say(two, message("m2"), at=THERE, claim=None)
    assert (await one.view(THERE)).wake == -5


async def test_what_is_due_is_told_earliest_first(one: State, clock: Clock) -> None:
    """By the time of its wake, not of its making or its name. Contract 49."""
    homes = [Conversation("guild/1", f"c{n}") for n in (3, 1, 4, 0, 2)]
    leases = [(await begin(one, message("m1"), at=home)).lease for home in homes]
    await one.renew(leases, 100)
    for lease in (leases[1], leases[3], leases[0], leases[4], leases[2]):
        clock.move(1)
        await one.park(lease, op=op())
    expected = tuple(homes[n] for n in (1, 3, 0, 4, 2))
    assert (await due(one)).conversations == expected
    assert (await due(one, limit=2)).conversations == expected[:2]


async def test_what_is_due_later_is_told_to_whom_looks_ahead(one: State, two: State) -> None:
    """What runs and what backs off, by the time of its wake; not what is idle. Contract 49."""
    runs, later, idle = (Conversation("guild/1", f"c{n}") for n in (2, 1, 0))
    lease = (await begin(one, message("m1"), at=later)).lease
    await one.fail(lease, "no", Changes(), retry_in=LEASE + 5, limit=9, op=op(), claim=CLAIM)
    await begin(one, message("m1"), at=runs)
    await finish(one, (await begin(one, message("m1"), at=idle)).lease)

    async def ahead(seconds: float, limit: int = 9) -> tuple[Conversation, ...]:
        partition = partition_of(runs.owner, two.partitions)
        return (await two.due(partition, limit, ahead=seconds)).conversations

    assert await ahead(LEASE - 1) == ()
    assert await ahead(LEASE) == (runs,)
    assert await ahead(LEASE + 5) == (runs, later)
    assert await ahead(1e9) == (runs, later)
    assert await ahead(1e9, limit=1) == (runs,)


async def test_nobody_starves_in_a_long_list(one: State, two: State, clock: Clock) -> None:
    """Who claims the few that a sweep names gets round to all of them. Contract 49."""
    homes = [Conversation("guild/1", f"c{n}") for n in range(7)]
    for home in homes:
        await say(one, message("m1"), at=home, claim=None)
        clock.move(1)
    served: list[Conversation] = []
    while few := (await due(two, limit=2)).conversations:
        for home in few:
            # Newcomers ask for attention meanwhile; they come after those that waited longer.
            await say(one, message(f"n{len(served)}"), at=HERE, claim=None)
            await claimed(two, at=home)
            served.append(home)
    assert [home for home in served if home != HERE] == homes


async def test_what_is_due_is_told_by_partition(one: State) -> None:
    """Each conversation by its owner's partition and by no other. Contract 49, 76."""
    for home in (HERE, THERE, ELSEWHERE):
        await say(one, message("m1"), at=home, claim=None)
    told = [await one.due(n, 100) for n in range(one.partitions)]
    assert sorted((c for each in told for c in each.conversations), key=str) == sorted(
        (HERE, THERE, ELSEWHERE), key=str
    )
    assert set((await due(one, ELSEWHERE)).conversations) >= {ELSEWHERE}


async def test_looking_changes_nothing(one: State, two: State, clock: Clock) -> None:
    """`due`, `view` and `history` may be asked by anybody at any time. Contract 48, 75."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    clock.move(LEASE)
    before = await everything(one)
    for _ in range(3):
        assert await everything(two) == before
    assert await is_due(one)
