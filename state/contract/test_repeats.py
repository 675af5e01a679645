"""Every step may be sent twice: the repeat gets the first answer and changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    HERE,
    LEASE,
    ROOMY,
    STOP_OWN,
    TRIGGER,
    begin,
    claimed,
    everything,
    finish,
    ids,
    message,
    op,
    say,
    started,
    taken_over,
    turnover_of,
    twice,
)
from state.outcomes import (
    Admission,
    Drift,
    Ignored,
    Killed,
    NotRunning,
    Placed,
    Refused,
    Retrying,
    Signalled,
    Superseding,
    Turnover,
)
from state.values import Changes, Claim, Could, Inbound, Lease, Policy, SignalKind

pytestmark = pytest.mark.asyncio


def commit_of(
    lease: Lease, own: str, claim: Claim | None
) -> Callable[[State], Awaitable[Turnover | Drift]]:
    """Bind a commit to an operation id."""
    return lambda state: state.commit(lease, Changes(), op=own, claim=claim)


def stop_of(own: str) -> Callable[[State], Awaitable[Signalled | NotRunning]]:
    """Bind a stop of the turn m1 to an operation id."""
    return lambda state: state.signal(HERE, "m1", SignalKind.STOP, by="eve", op=own)


def admit(
    inbound: Inbound, could: Could = TRIGGER, policy: Policy = ROOMY
) -> Callable[[State], Awaitable[Admission]]:
    """Bind an admit to an operation id."""
    own = op()
    return lambda state: state.admit(HERE, inbound, could, policy, op=own, claim=CLAIM)


async def test_an_admit_that_started_sent_twice(one: State, two: State) -> None:
    """Started stays started, under the same lease, which still holds. Contract 19, 73."""
    answer = await twice(one, two, admit(message("m1")))
    assert await two.record(started(answer).lease, "a", "b", b"c") == b"c"


async def test_an_admit_that_queued_sent_twice(one: State, two: State) -> None:
    """It waits once, at the same place, and is no duplicate of itself. Contract 19, 73."""
    await begin(one, message("m1"))
    assert await twice(one, two, admit(message("m2"))) == Placed(1)
    assert ids((await one.view(HERE)).waiting) == ["m2"]


async def test_an_admit_that_changed_nothing_sent_twice(one: State, two: State) -> None:
    """Refused stays refused and ignored ignored, though by now there were room. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    step = admit(message("m2"), policy=Policy(drop=True))
    assert isinstance(await twice(one, two, step), Refused)
    await finish(one, lease)
    assert isinstance(await step(two), Refused)
    assert await twice(one, two, admit(message("m3"), Could())) == Ignored()


async def test_an_admit_that_followed_up_sent_twice(one: State, two: State) -> None:
    """One message waits, one signal is pending. Contract 73."""
    await begin(one, message("m1"))
    assert await twice(one, two, admit(message("m2"), FOLLOW_UP)) == Superseding("m1")


async def test_an_admit_that_stopped_sent_twice(one: State, two: State) -> None:
    """Though the turn that it stopped is over, and another runs. Contract 73, 56."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    step = admit(message("s1"), STOP_OWN)
    assert await twice(one, two, step) == Signalled("m1", (message("m2"),))
    await finish(one, lease)
    lease = (await begin(one, message("m3"))).lease
    assert await step(two) == Signalled("m1", (message("m2"),))
    assert (await everything(one)).due.signals == ()


async def test_a_claim_sent_twice(one: State, two: State) -> None:
    """The claimant is told again of its own turn, not that it is busy. Contract 73."""
    await say(one, message("m1"), claim=None)
    own = op()
    answer = await twice(one, two, lambda state: state.claim(HERE, op=own, claim=CLAIM))
    assert await two.record(started(answer).lease, "a", "b", b"c") == b"c"


async def test_a_claim_that_settled_sent_twice(one: State, two: State, clock: Clock) -> None:
    """What was dropped on the way is told again; its author can still be told. Contract 73."""
    await say(one, message("m1"), claim=None)
    clock.move(100)
    own, claim = op(), Claim(LEASE, expire_after=60)
    answer = await twice(one, two, lambda state: state.claim(HERE, op=own, claim=claim))
    assert [ids(s.inbounds) for s in turnover_of(answer).settled] == [["m1"]]


async def test_a_record_sent_twice(one: State, two: State, clock: Clock) -> None:
    """It is one step. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    await twice(one, two, lambda state: state.record(lease, "a", "b", b"c"))
    assert len((await taken_over(two, clock)).steps) == 1


async def test_a_page_sent_twice(one: State, two: State, clock: Clock) -> None:
    """It is one page, and so is the id of its message. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    await twice(one, two, lambda state: state.page(lease, 0, 0, b"c"))
    await twice(one, two, lambda state: state.posted(lease, 0, 0, "900"))
    assert len((await taken_over(two, clock)).pages) == 1


async def test_a_take_sent_twice(one: State, two: State) -> None:
    """It answers what it took. Contract 73, 28."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    assert ids(await twice(one, two, lambda state: state.take(lease, "k"))) == ["m2"]


async def test_a_supersede_sent_twice(one: State, two: State, clock: Clock) -> None:
    """One new turn, counted once, under the lease that the first answer gave. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"), could=FOLLOW_UP)
    own, changes = op(), Changes(transcript=(b"half",))
    answer = await twice(
        one, two, lambda state: state.supersede(lease, op=own, claim=CLAIM, changes=changes)
    )
    assert await two.record(started(answer).lease, "a", "b", b"c") == b"c"
    assert (await taken_over(two, clock)).followups == 1
    assert len(await one.history(HERE)) == 1


async def test_a_commit_that_handed_over_sent_twice(one: State, two: State) -> None:
    """It starts one turn, not the one after it too. Contract 37, 73."""
    lease = (await begin(one, message("m1"))).lease
    for waiting in ("m2", "m3"):
        await say(one, message(waiting))
    own, changes = op(), Changes(state=b"s", transcript=(b"line",))
    answer = await twice(one, two, lambda s: s.commit(lease, changes, op=own, claim=CLAIM))
    assert started(turnover_of(answer)).lease.turn == "m2"
    assert ids((await one.view(HERE)).waiting) == ["m3"]
    assert len(await one.history(HERE)) == 1


async def test_a_commit_that_released_sent_twice(one: State, two: State) -> None:
    """Nothing is left of the conversation but the answer. Contract 37, 73."""
    for n, claim in enumerate((CLAIM, None)):
        lease = (await begin(one, message(f"m{n}"))).lease
        assert await twice(one, two, commit_of(lease, op(), claim)) == Turnover()


async def test_a_commit_sent_twice_at_once(one: State, two: State) -> None:
    """A retry may overtake the first attempt: both get the one answer. Contract 37, 73."""
    lease = (await begin(one, message("m1"))).lease
    for waiting in ("m2", "m3"):
        await say(one, message(waiting))
    step = commit_of(lease, op(), CLAIM)
    first, second = await asyncio.gather(step(one), step(two))
    assert first == second
    assert started(first).lease.turn == "m2"
    assert ids((await one.view(HERE)).waiting) == ["m3"]


async def test_a_failure_sent_twice(one: State, two: State, clock: Clock) -> None:
    """It counts once, and the wake is not put off. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    own = op()

    async def step(state: State) -> Turnover | Retrying:
        return await state.fail(lease, "no", Changes(), retry_in=5, limit=9, op=own, claim=CLAIM)

    assert await step(one) == Retrying(1, 5)
    clock.move(2)
    before = await everything(one)
    assert await step(two) == Retrying(1, 5)
    assert await everything(one) == before
    assert (await taken_over(two, clock)).attempts == 1


async def test_a_giving_up_sent_twice(one: State, two: State) -> None:
    """One dead letter, one line of transcript, one next turn. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    for waiting in ("m2", "m3"):
        await say(one, message(waiting))
    own, half = op(), Changes(transcript=(b"half",))
    await twice(
        one,
        two,
        lambda s: s.fail(lease, "no", half, retry_in=None, limit=9, op=own, claim=CLAIM),
    )
    view = await one.view(HERE)
    assert (view.dead_letters, ids(view.waiting)) == (1, ["m3"])


async def test_a_park_sent_twice(one: State, two: State, clock: Clock) -> None:
    """Also when the parked turn has a new holder by then. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    own = op()
    await twice(one, two, lambda state: state.park(lease, op=own))
    again = (await claimed(two)).lease
    await one.park(lease, op=own)
    assert await two.record(again, "a", "b", b"c") == b"c"


async def test_a_signal_sent_twice(one: State, two: State) -> None:
    """It withdraws once and answers alike, also when the turn is over by then. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    step = stop_of(op())
    assert await twice(one, two, step) == Signalled("m1", (message("m2"),))
    await finish(one, lease)
    assert await step(two) == Signalled("m1", (message("m2"),))
    step = stop_of(op())
    assert await twice(one, two, step) == NotRunning()


async def test_a_kill_sent_twice(one: State, two: State) -> None:
    """It spares what came after it. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    own = op()

    async def step(state: State) -> Killed:
        return await state.kill(HERE, by="eve", op=own)

    killed = await twice(one, two, step)
    assert ids(killed.dropped) == ["m2"]
    await finish(one, lease)
    lease = (await begin(one, message("m3"))).lease
    await say(one, message("m4"))
    before = await everything(one)
    assert await step(two) == killed
    assert await everything(one) == before


async def test_a_subscription_or_reset_sent_twice(one: State, two: State) -> None:
    """They are idempotent by nature and need no operation id. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    await finish(one, lease, Changes(transcript=(b"a",)))
    await twice(one, two, lambda state: state.subscribe(HERE))
    await twice(one, two, lambda state: state.unsubscribe(HERE))
    await twice(one, two, lambda state: state.reset(HERE))


async def test_a_renewal_sent_twice(one: State, two: State) -> None:
    """At the same moment it ends at the same moment. Contract 73."""
    lease = (await begin(one, message("m1"))).lease
    await twice(one, two, lambda state: state.renew([lease], 30))
