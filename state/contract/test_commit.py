"""Commit: the end of a turn and the start of the next, in one step."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    THERE,
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
    taken_over,
)
from state.errors import LeaseLost
from state.outcomes import Duplicate, Turnover
from state.values import Changes, Outcome, SignalKind

pytestmark = pytest.mark.asyncio


async def test_a_commit_acknowledges_every_inbound_of_the_turn(one: State, two: State) -> None:
    """Those it was made of and those it took: none runs again, none waits. Contract 35."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await one.take(lease, "gather")
    assert await finish(one, lease) == Turnover()
    view = await two.view(HERE)
    assert (view.turn, view.waiting, view.wake) == (None, (), None)
    for again in ("m1", "m2"):
        assert await say(two, message(again)) == Duplicate(None)


async def test_a_commit_writes_state_version_and_transcript(one: State, two: State) -> None:
    """The next turn is given the state, whoever holds it. Contract 35, 39."""
    lease = (await begin(one, message("m1"))).lease
    await finish(one, lease, Changes(state=b"s1", state_version=3, transcript=(b"a", b"b")))
    assert [entry.payload for entry in await two.history(HERE)] == [b"a", b"b"]
    start = await begin(two, message("m2"))
    assert (start.state, start.state_version) == (b"s1", 3)


async def test_a_commit_without_state_leaves_the_stored_one(one: State, two: State) -> None:
    """None is no state to write; absent stays absent, and empty is not absent. Contract 39."""
    start = await begin(one, message("m1"))
    assert (start.state, start.state_version) == (None, 0)
    await finish(one, start.lease, Changes(transcript=(b"a",)))
    start = await begin(two, message("m2"))
    assert start.state is None
    await finish(two, start.lease, Changes(state=b"", state_version=1))
    start = await begin(one, message("m3"))
    assert (start.state, start.state_version) == (b"", 1)
    await finish(one, start.lease, Changes(state_version=9))
    start = await begin(one, message("m4"))
    assert (start.state, start.state_version) == (b"", 1)


async def test_every_outcome_ends_a_turn(one: State) -> None:
    """What became of it is the caller's to say; the hand-over is the same. Contract 35."""
    lease = (await begin(one, message("m0"))).lease
    for n, outcome in enumerate(Outcome, start=1):
        await say(one, message(f"m{n}"))
        lease = started(await finish(one, lease, Changes(outcome))).lease
        assert lease.turn == f"m{n}"


async def test_a_commit_hands_the_next_head_over(one: State, two: State, clock: Clock) -> None:
    """The next turn has a new token and a whole lease; the old token is dead. Contract 36."""
    old = (await begin(one, message("m1"))).lease
    await say(two, message("m2", "bob", b"next"))
    clock.move(6)
    attempt = op()
    answer = await one.commit(old, Changes(), op=attempt, claim=CLAIM)
    start = started(answer)
    assert start.inbounds == (message("m2", "bob", b"next"),)
    assert start.lease.token == f"{number(start.lease)}-{attempt}"
    assert start.lease.expires == clock.milliseconds() + LEASE * 1000
    assert (start.attempts, start.followups, start.carry, start.signal) == (0, 0, None, None)
    assert start.waited == 6
    with pytest.raises(LeaseLost):
        await one.record(old, "a", "b", b"late")


async def test_a_commit_gives_the_next_turn_the_new_state(one: State) -> None:
    """What it has just written, not what was there before. Contract 36, 39."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    start = started(await finish(one, lease, Changes(state=b"new", state_version=2)))
    assert (start.state, start.state_version) == (b"new", 2)


async def test_a_commit_of_the_last_turn_releases(one: State, two: State) -> None:
    """Nothing holds the conversation, nothing wakes for it. Contract 36, 51."""
    lease = (await begin(one, message("m1"))).lease
    await finish(one, lease)
    view = await two.view(HERE)
    assert (view.turn, view.wake) == (None, None)
    assert started(await say(two, message("m2"))).lease.turn == "m2"


async def test_a_commit_of_a_draining_process_frees_and_wakes(one: State, two: State) -> None:
    """A claim of None takes nothing; what waits is due for another at once. Contract 37."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    assert await finish(one, lease, claim=None) == Turnover()
    view = await two.view(HERE)
    assert (view.turn, ids(view.waiting), view.wake) == (None, ["m2"], 0)
    assert await is_due(two)
    assert (await claimed(two)).lease.turn == "m2"


async def test_a_commit_of_a_draining_process_with_an_empty_inbox_leaves_no_wake(
    one: State,
) -> None:
    """There is nothing to look at again. Contract 37, 51."""
    lease = (await begin(one, message("m1"))).lease
    await finish(one, lease, claim=None)
    assert (await one.view(HERE)).wake is None


async def test_a_commit_takes_the_signal_away(one: State, two: State) -> None:
    """It was meant for the turn that is over. Contract 35, 56."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await two.signal(HERE, "m1", SignalKind.STOP, by="eve", op=op())
    start = started(await finish(one, lease, Changes(Outcome.STOPPED)))
    assert start.signal is None
    assert (await everything(two)).due.signals == ()


async def test_state_survives_turns_that_write_none(one: State, two: State, clock: Clock) -> None:
    """Expiry, failure, park and dead letter leave the state as it was. Contract 39, 45."""
    lease = (await begin(one, message("m1"))).lease
    await finish(one, lease, Changes(state=b"kept", state_version=7))
    await begin(one, message("m2"))
    start = await taken_over(two, clock)
    assert start.state == b"kept"
    lost = Changes(state=b"lost", state_version=8)
    await two.fail(start.lease, "no", lost, retry_in=1, limit=9, op=op(), claim=CLAIM)
    start = await taken_over(one, clock)
    await one.fail(start.lease, "no", lost, retry_in=None, limit=9, op=op(), claim=CLAIM)
    start = await begin(two, message("m3"))
    assert (start.state, start.state_version) == (b"kept", 7)


async def test_state_belongs_to_one_conversation(one: State) -> None:
    """Not to its owner. Contract 15, 39."""
    await finish(one, (await begin(one, message("m1"))).lease, Changes(state=b"here"))
    assert (await begin(one, message("m1"), at=THERE)).state is None
