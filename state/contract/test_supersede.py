"""Supersede: a follow-up takes the place of the turn that it follows."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    HERE,
    begin,
    everything,
    finish,
    ids,
    message,
    number,
    op,
    say,
    settled,
    started,
    taken_over,
)
from state.errors import LeaseLost
from state.outcomes import Turnover
from state.values import Changes, SignalKind

pytestmark = pytest.mark.asyncio


async def test_a_follow_up_becomes_a_new_turn_in_the_place_of_the_old(
    one: State, two: State
) -> None:
    """The lead's waiting messages under the newest one's id, before all that wait. Contract 28."""
    old = (await begin(one, message("m1"))).lease
    await say(two, message("m2", "bob"))
    await say(two, message("m3"), could=FOLLOW_UP)
    await say(two, message("m4"), could=FOLLOW_UP)
    attempt = op()
    answer = await one.supersede(old, op=attempt, claim=CLAIM, carry=b"carried")
    start = started(answer)
    assert (start.lease.turn, ids(start.inbounds)) == ("m4", ["m3", "m4"])
    assert start.lease.token == f"{number(start.lease)}-{attempt}"
    assert (start.followups, start.carry, start.signal) == (1, b"carried", None)
    assert ids((await two.view(HERE)).waiting) == ["m2"]
    assert settled(answer) == ()


async def test_a_superseded_turn_leaves_no_step_and_no_page(
    one: State, two: State, clock: Clock
) -> None:
    """Also not for the holder after the next. Contract 28, 42."""
    old = (await begin(one, message("m1"))).lease
    await one.record(old, "ask", "1", b"old")
    await one.page(old, 0, 0, b"old")
    await say(one, message("m2"), could=FOLLOW_UP)
    start = started(await one.supersede(old, op=op(), claim=CLAIM))
    assert (start.steps, start.pages) == ((), ())
    assert await one.record(start.lease, "ask", "1", b"new") == b"new"
    again = await taken_over(two, clock)
    assert [step.value for step in again.steps] == [b"new"]


async def test_a_superseding_turn_is_taken_up_as_it_was(
    one: State, two: State, clock: Clock
) -> None:
    """Inbounds, carry and count of follow-ups survive its holder. Contract 28, 47."""
    old = (await begin(one, message("m1"))).lease
    for n in (2, 3):
        await say(one, message(f"m{n}"), could=FOLLOW_UP)
        start = started(await one.supersede(old, op=op(), claim=CLAIM, carry=f"c{n}".encode()))
        old = start.lease
    again = await taken_over(two, clock)
    assert (again.lease.turn, ids(again.inbounds)) == ("m3", ["m3"])
    assert (again.followups, again.carry) == (2, b"c3")


async def test_a_superseded_turn_is_acknowledged(one: State, two: State) -> None:
    """Its transcript is written, its state is not, and its token is dead. Contract 28, 38."""
    old = (await begin(one, message("m1"))).lease
    await say(one, message("m2"), could=FOLLOW_UP)
    changes = Changes(state=b"lost", transcript=(b"half a reply",))
    start = started(await one.supersede(old, op=op(), claim=CLAIM, changes=changes))
    assert start.state is None
    assert [entry.payload for entry in await two.history(HERE)] == [b"half a reply"]
    with pytest.raises(LeaseLost):
        await one.record(old, "ask", "1", b"late")
    assert await finish(one, start.lease) == Turnover()


async def test_superseding_with_nothing_to_follow_is_a_commit(one: State, two: State) -> None:
    """The follow-up was withdrawn or taken meanwhile: the next in line starts. Contract 28."""
    old = (await begin(one, message("m1"))).lease
    await say(two, message("m2", "bob"))
    await say(two, message("m3"), could=FOLLOW_UP)
    await one.take(old, "gather", "ann")
    changes = Changes(transcript=(b"half a reply",))
    start = started(await one.supersede(old, op=op(), claim=CLAIM, carry=b"c", changes=changes))
    assert (start.lease.turn, start.followups, start.carry) == ("m2", 0, None)
    assert [entry.payload for entry in await two.history(HERE)] == [b"half a reply"]


async def test_superseding_a_stopped_turn_is_a_commit(one: State, two: State) -> None:
    """
    A stop or kill beats a follow-up: what the lead has waiting is not started in its place.

    Contract 28, 57.
    """
    for n, kind in enumerate((SignalKind.STOP, SignalKind.KILL)):
        old = (await begin(one, message(f"m{n}"))).lease
        await say(two, message(f"b{n}", "bob"))
        await two.signal(HERE, old.turn, kind, by="eve", op=op())
        await say(two, message(f"f{n}"))
        start = started(await one.supersede(old, op=op(), claim=CLAIM))
        assert (start.lease.turn, start.followups) == (f"b{n}", 0), kind
        assert ids((await one.view(HERE)).waiting) == [f"f{n}"], kind
        await finish(one, started(await finish(one, start.lease)).lease)


async def test_superseding_the_last_turn_releases(one: State) -> None:
    """With nothing waiting at all the conversation is free. Contract 28, 51."""
    old = (await begin(one, message("m1"))).lease
    assert await one.supersede(old, op=op(), claim=CLAIM) == Turnover()
    assert (await everything(one)).view.wake is None


async def test_a_new_turn_counts_its_follow_ups_anew(one: State) -> None:
    """The count is of a row of follow-ups; a turn from the inbox begins at none. Contract 28."""
    old = (await begin(one, message("m1"))).lease
    await say(one, message("m2"), could=FOLLOW_UP)
    start = started(await one.supersede(old, op=op(), claim=CLAIM))
    await say(one, message("m3", "bob"))
    assert started(await finish(one, start.lease)).followups == 0
