"""A turn that was asked to make room: whom its successor answers, and when nobody is left to."""

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
    due,
    finish,
    ids,
    message,
    op,
    say,
    started,
    taken_over,
)
from state.keys import Author
from state.outcomes import Held, Placed, Signalled, Superseding
from state.values import Changes, Could, Lease, Overflow, Policy, SignalKind

pytestmark = pytest.mark.asyncio

INTERRUPT = Policy(inbox=9, per_person=9, interrupt=True)


async def gathered(state: State) -> Lease:
    """Begin a turn of ann and bob, which ann leads."""
    lease = (await begin(state, message("m1"))).lease
    await say(state, message("m2", "bob"))
    await state.take(lease, "gather")
    return lease


async def test_what_others_said_is_answered_by_the_turn_after_a_follow_up(
    one: State, two: State, clock: Clock
) -> None:
    """
    The lead's own is what the follow-up replaces; others' waits in the place that it had.

    Also when that holder dies. Contract 28.
    """
    lease = await gathered(one)
    await say(two, message("m3"), could=FOLLOW_UP)
    answer = await one.supersede(lease, op=op(), claim=CLAIM, changes=Changes(answer=b"half"))
    start = started(answer)
    assert (start.lease.turn, ids(start.inbounds), start.followups) == ("m3", ["m2", "m3"], 1)
    again = await taken_over(two, clock)
    assert ids(again.inbounds) == ["m2", "m3"]
    await finish(two, again.lease, Changes(answer=b"whole"))
    assert [await two.answer(HERE, f"m{n}") for n in (1, 2, 3)] == [b"half", b"whole", b"whole"]


async def test_what_was_taken_goes_on_with_the_rest_of_a_message(one: State, two: State) -> None:
    """All of the turn is answered again, and that counts as no follow-up. Contract 28."""
    lease = await gathered(one)
    await say(two, message("m3"), could=Could(trigger=True, joins="m1"))
    start = started(await one.supersede(lease, op=op(), claim=CLAIM))
    assert (ids(start.inbounds), start.followups) == (["m1", "m2", "m3"], 0)


async def no_request(state: State, lease: Lease) -> None:
    """Demand that the turn is asked nothing, and ends as an answer with nothing behind it."""
    assert await state.renew([lease], LEASE) == [Held()]
    assert (await due(state)).signals == ()
    view = await state.view(HERE)
    assert view.turn is not None
    assert view.turn.signal is None


async def test_a_request_goes_with_the_follow_up_that_is_deleted(one: State, two: State) -> None:
    """With the last of them, since each asked. Contract 25, 57."""
    lease = (await begin(one, message("m1"))).lease
    for name in ("m2", "m3"):
        assert await say(two, message(name), could=FOLLOW_UP) == Superseding("m1")
    await two.withdraw(HERE, "m2", op=op())
    assert await one.renew([lease], LEASE) == [Held(SignalKind.SUPERSEDE, "ann")]
    await two.withdraw(HERE, "m3", op=op())
    await no_request(one, lease)
    assert (await finish(one, lease)).started is None


async def test_a_request_goes_with_the_follow_up_that_is_taken(one: State, two: State) -> None:
    """The turn answers it itself, and may be asked again. Contract 28, 57."""
    lease = (await begin(one, message("m1"))).lease
    await one.record(lease, "ask", "1", b"x")
    await say(two, message("m2"), could=FOLLOW_UP)
    await one.take(lease, "gather")
    await no_request(one, lease)
    await one.record(lease, "ask", "2", b"y")
    assert await say(two, message("m3"), could=FOLLOW_UP) == Superseding("m1")
    assert await one.renew([lease], LEASE) == [Held(SignalKind.SUPERSEDE, "ann")]


async def test_a_request_goes_with_the_interruption_that_is_stopped(one: State, two: State) -> None:
    """By its author, who has no part in the turn; or by a kill of theirs. Contract 24, 27, 57."""
    lease = (await begin(one, message("m1"))).lease
    interruption = message("m2", "bob")
    await say(two, interruption, policy=INTERRUPT)
    answer = await say(two, message("s", "bob"), could=STOP_OWN)
    assert answer == Signalled(None, (interruption,))
    await no_request(one, lease)
    await say(two, message("m3", "bob"), policy=INTERRUPT)
    await two.kill(HERE, by="bob", op=op(), author="bob")
    await no_request(one, lease)
    await say(two, message("m4", "bob"), policy=INTERRUPT)
    while not (await two.forget(Author("bob"))).done:
        pass
    await no_request(one, lease)


async def test_a_request_goes_with_the_follow_up_that_makes_room(one: State, two: State) -> None:
    """A full inbox drops it for a newer message of somebody else. Contract 20, 57."""
    lease = (await begin(one, message("m1"))).lease
    full = Policy(inbox=1, overflow=Overflow.DROP_OLDEST)
    await say(two, message("m2"), could=FOLLOW_UP, policy=ROOMY)
    answer = await say(two, message("m3", "bob"), could=TRIGGER, policy=full)
    assert isinstance(answer, Placed)
    await no_request(one, lease)


async def test_a_request_stays_while_another_has_cause(one: State, two: State) -> None:
    """What somebody else has waiting is none, unless it interrupts. Contract 57."""
    lease = (await begin(one, message("m1"))).lease
    await say(two, message("m2", "bob"))
    await say(two, message("m3"), could=FOLLOW_UP)
    await two.withdraw(HERE, "m3", op=op())
    await no_request(one, lease)
    await say(two, message("m4", "cy"), policy=INTERRUPT)
    await two.withdraw(HERE, "m4", op=op())
    assert await one.renew([lease], LEASE) == [Held(SignalKind.SUPERSEDE, "cy")]
    start = started(await one.supersede(lease, op=op(), claim=CLAIM))
    assert ids(start.inbounds) == ["m1", "m2"]
