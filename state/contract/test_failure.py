"""Failure: exceptions, expiries and parks, what they count and what they keep."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    HERE,
    LEASE,
    begin,
    claimed,
    everything,
    ids,
    is_due,
    message,
    op,
    say,
    settled,
    started,
    taken_over,
)
from state.outcomes import Busy, Retrying, Settled, Started, Turnover
from state.ports import MAX_EXPIRIES
from state.values import Changes, Claim, Conversation, Lease, Outcome, Page, SignalKind, Step

pytestmark = pytest.mark.asyncio

LOST = Changes(state=b"lost", transcript=(b"half a reply",))


async def fail(
    state: State,
    lease: Lease,
    *,
    retry_in: float | None = 60,
    limit: int = 3,
    claim: Claim | None = CLAIM,
) -> Turnover | Retrying:
    """Count an exception under an operation id of its own."""
    return await state.fail(
        lease, "it broke: ✗", LOST, retry_in=retry_in, limit=limit, op=op(), claim=claim
    )


async def test_a_failed_turn_keeps_the_head_and_wakes_later(
    one: State, two: State, clock: Clock
) -> None:
    """Nobody holds it, nobody may claim it before its time, nothing overtakes. Contract 43."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    assert await fail(one, lease) == Retrying(1, 60)
    view = await two.view(HERE)
    assert view.turn is not None
    assert (view.turn.id, view.turn.live, ids(view.waiting)) == ("m1", False, ["m2"])
    assert (view.wake, await is_due(two)) == (60, False)
    clock.move(59)
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Busy(1)
    clock.move(1)
    assert await is_due(two)
    assert (await claimed(two)).lease.turn == "m1"


async def test_a_failed_turn_keeps_steps_and_pages(one: State, two: State, clock: Clock) -> None:
    """The retry is a replay; nothing of the failed run's changes landed. Contract 43."""
    lease = (await begin(one, message("m1"))).lease
    await one.record(lease, "ask", "1", b"x")
    await one.page(lease, 0, 0, b"y")
    await fail(one, lease)
    again = await taken_over(two, clock)
    assert (again.steps, again.pages) == ((Step("ask", "1", b"x"),), (Page(0, 0, b"y"),))
    assert (again.state, await two.history(HERE)) == (None, ())


async def test_attempts_count_exceptions(one: State, two: State, clock: Clock) -> None:
    """The next holder is told how many there were. Contract 44."""
    start = await begin(one, message("m1"))
    for n in (1, 2, 3):
        assert start.attempts == n - 1
        assert await fail(one, start.lease, limit=9) == Retrying(n, 60)
        start = await taken_over(two, clock)
    assert start.attempts == 3


async def test_attempts_do_not_count_parks_expiries_and_follow_ups(
    one: State, two: State, clock: Clock
) -> None:
    """None of them is the turn's own fault. Contract 44."""
    await begin(one, message("m1"))
    start = await taken_over(two, clock)
    await two.park(start.lease, op=op())
    start = await claimed(one)
    assert start.attempts == 0
    await fail(one, start.lease)
    start = await taken_over(two, clock)
    await say(one, message("m2"), could=FOLLOW_UP)
    assert started(await two.supersede(start.lease, op=op(), claim=CLAIM)).attempts == 0


async def test_a_turn_that_fails_too_often_is_a_dead_letter(
    one: State, two: State, clock: Clock
) -> None:
    """At the limit the next one starts in the same step; the state stays. Contract 45."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await fail(one, lease, limit=2)
    lease = (await taken_over(two, clock)).lease
    start = started(await fail(two, lease, limit=2))
    assert (start.lease.turn, start.attempts, start.state) == ("m2", 0, None)
    assert (await one.view(HERE)).dead_letters == 1


async def test_a_failure_that_no_retry_mends_is_a_dead_letter_at_once(one: State) -> None:
    """Its transcript is written, and the conversation is free. Contract 45."""
    lease = (await begin(one, message("m1"))).lease
    assert await fail(one, lease, retry_in=None) == Turnover()
    view = await one.view(HERE)
    assert (view.turn, view.wake, view.dead_letters) == (None, None, 1)
    assert [entry.payload for entry in await one.history(HERE)] == [b"half a reply"]


async def test_a_draining_process_that_gives_a_turn_up_starts_nothing(
    one: State, two: State
) -> None:
    """What waits is due for another. Contract 37, 45."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    assert await fail(one, lease, retry_in=None, claim=None) == Turnover()
    assert (await two.view(HERE)).wake == 0
    assert (await claimed(two)).lease.turn == "m2"


async def test_a_stopped_turn_that_fails_is_not_tried_again(one: State, two: State) -> None:
    """It is settled as what it was asked for, and is no dead letter. Contract 43, 55, 57."""
    for n, (kind, outcome) in enumerate(
        ((SignalKind.STOP, Outcome.STOPPED), (SignalKind.KILL, Outcome.KILLED))
    ):
        for m, retry_in in enumerate((60.0, None)):
            home = Conversation("guild/1", f"c{n}{m}")
            lease = (await begin(one, message("m1"), at=home)).lease
            await one.page(lease, 0, 0, b"half")
            await say(one, message("m2", "bob"), at=home)
            await two.signal(home, "m1", kind, by="eve", op=op())
            answer = await fail(one, lease, retry_in=retry_in)
            pages = (Page(0, 0, b"half"),)
            assert settled(answer) == (Settled(outcome, (message("m1"),), "m1", pages),)
            assert started(answer).lease.turn == "m2"
            assert (await two.view(home)).dead_letters == 0
            assert [entry.payload for entry in await two.history(home)] == [b"half a reply"]


async def test_a_stopped_turn_that_fails_in_a_draining_process_is_settled(
    one: State, two: State
) -> None:
    """What waits is due for another. Contract 37, 43, 55."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await two.signal(HERE, "m1", SignalKind.STOP, by="eve", op=op())
    answer = await fail(one, lease, claim=None)
    assert answer == Turnover(None, (Settled(Outcome.STOPPED, (message("m1"),), "m1"),))
    view = await two.view(HERE)
    assert (view.turn, ids(view.waiting), view.wake) == (None, ["m2"], 0)
    assert (await claimed(two)).lease.turn == "m2"


async def test_a_retry_at_once_is_due_at_once(one: State, two: State) -> None:
    """A delay of nothing backs off by nothing. Contract 43."""
    lease = (await begin(one, message("m1"))).lease
    assert await fail(one, lease, retry_in=0) == Retrying(1, 0)
    assert await is_due(two)
    assert (await claimed(two)).attempts == 1


async def test_a_turn_whose_lease_expires_too_often_is_a_dead_letter(
    one: State, two: State, clock: Clock
) -> None:
    """Without a new step in between; the claim settles it and starts the next. Contract 44, 45."""
    lease = (await begin(one, message("m1"))).lease
    await one.page(lease, 0, 0, b"half")
    await say(one, message("m2", "bob"))
    for _ in range(MAX_EXPIRIES - 1):
        assert (await taken_over(two, clock)).lease.turn == "m1"
    clock.move(LEASE)
    answer = await two.claim(HERE, op=op(), claim=CLAIM)
    assert [(s.outcome, s.turn) for s in settled(answer)] == [(Outcome.DEAD, "m1")]
    assert settled(answer)[0].pages == (Page(0, 0, b"half"),)
    assert started(answer).lease.turn == "m2"
    assert (await one.view(HERE)).dead_letters == 1


async def test_a_new_step_is_progress(one: State, two: State, clock: Clock) -> None:
    """Expiries are counted from the last one; the same step again is none. Contract 44."""
    lease = (await begin(one, message("m1"))).lease
    for _ in range(MAX_EXPIRIES - 1):
        lease = (await taken_over(two, clock)).lease
    await two.record(lease, "ask", "1", b"x")
    for _ in range(MAX_EXPIRIES - 1):
        lease = (await taken_over(two, clock)).lease
        await two.record(lease, "ask", "1", b"x")
    clock.move(LEASE)
    answer = await two.claim(HERE, op=op(), claim=CLAIM)
    assert [s.outcome for s in settled(answer)] == [Outcome.DEAD]


async def test_only_expiries_count_as_expiries(one: State, two: State, clock: Clock) -> None:
    """A turn that is parked, renewed or failed often enough is not given up for it. Contract 44."""
    start: Started = await begin(one, message("m1"))
    for _ in range(MAX_EXPIRIES):
        await one.park(start.lease, op=op())
        start = await claimed(one)
        await one.renew([start.lease], LEASE)
        await fail(one, start.lease, limit=99)
        start = await taken_over(two, clock)
    assert (start.lease.turn, start.attempts) == ("m1", MAX_EXPIRIES)


async def test_a_parked_turn_is_due_now(one: State, two: State, clock: Clock) -> None:
    """With head, steps, pages and takes as they were. Contract 50."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    await one.take(lease, "k")
    await one.record(lease, "ask", "1", b"x")
    await one.page(lease, 0, 0, b"y")
    await say(one, message("m3"))
    await one.park(lease, op=op())
    view = await two.view(HERE)
    assert view.turn is not None
    assert (view.turn.id, view.turn.live, view.wake) == ("m1", False, 0)
    assert await is_due(two)
    again = await claimed(two)
    assert (again.steps, again.pages) == ((Step("ask", "1", b"x"),), (Page(0, 0, b"y"),))
    assert ids(await two.take(again.lease, "k")) == ["m2"]
    assert ids((await two.view(HERE)).waiting) == ["m3"]


async def test_a_turn_whose_holder_died_is_due_when_the_lease_ends(
    one: State, two: State, clock: Clock
) -> None:
    """Once and not before, with its steps; then its new holder's lease counts. Contract 47."""
    lease = (await begin(one, message("m1"))).lease
    await one.record(lease, "ask", "1", b"x")
    clock.move(LEASE - 0.125)
    assert not await is_due(two)
    clock.move(0.125)
    assert await is_due(two)
    assert (await claimed(two)).steps == (Step("ask", "1", b"x"),)
    assert not await is_due(one)
    assert (await everything(one)).view.wake == LEASE
