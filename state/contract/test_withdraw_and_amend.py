"""Withdraw and amend: one message that was deleted or edited before its turn was over."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    begin,
    everything,
    finish,
    ids,
    is_due,
    message,
    op,
    say,
    started,
    taken_over,
    twice,
)
from state.outcomes import Amended, Duplicate, Held, NotWaiting, Superseding, Withdrawn
from state.values import Changes, Policy, Signal, SignalKind

pytestmark = pytest.mark.asyncio

EDIT = message("m2@1", payload=b"edited")


async def test_a_message_that_waits_can_be_withdrawn(one: State, two: State) -> None:
    """It is returned, and those behind it move up. Contract 25."""
    lease = (await begin(one, message("m1"))).lease
    for id_ in ("m2", "m3"):
        await say(one, message(id_, "bob"))
    assert await two.withdraw(HERE, "m2", op=op()) == Withdrawn(message("m2", "bob"))
    assert ids((await one.view(HERE)).waiting) == ["m3"]
    assert started(await finish(one, lease)).lease.turn == "m3"


async def test_a_message_that_runs_cannot_be_withdrawn(one: State, two: State) -> None:
    """Nor one that the turn has taken: it is named, and runs on. Contract 25, 75."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await one.take(lease, "k")
    before = await everything(one)
    for id_ in ("m1", "m2"):
        assert await two.withdraw(HERE, id_, op=op()) == NotWaiting("m1"), id_
    assert await everything(one) == before
    assert await one.renew([lease], LEASE) == [Held()]


async def test_a_message_withdrawn_early_is_a_duplicate_later(one: State, two: State) -> None:
    """Its deletion may be heard before itself; it is never answered then. Contract 18, 25."""
    before = await everything(one)
    assert await one.withdraw(HERE, "m1", op=op()) == NotWaiting(None)
    assert await everything(one) == before
    assert await say(two, message("m1")) == Duplicate(None)


async def test_withdrawing_the_last_message_leaves_no_wake(one: State, clock: Clock) -> None:
    """With others left, the wake is when the first of them may start. Contract 25, 51."""
    await say(one, message("m1"), claim=None)
    await say(one, message("m2"), claim=None, policy=Policy(not_before=9))
    await one.withdraw(HERE, "m1", op=op())
    assert ((await one.view(HERE)).wake, await is_due(one)) == (9, False)
    await one.withdraw(HERE, "m2", op=op())
    assert (await one.view(HERE)).wake is None


async def test_withdrawing_leaves_the_wake_of_a_turn(one: State, two: State) -> None:
    """Its lease's end or its retry is when somebody must look. Contract 25, 51."""
    lease = (await begin(one, message("m1"))).lease
    for id_ in ("m2", "m3"):
        await say(one, message(id_))
    await two.withdraw(HERE, "m2", op=op())
    assert (await one.view(HERE)).wake == LEASE
    await one.fail(lease, "no", Changes(), retry_in=60, limit=9, op=op(), claim=CLAIM)
    await two.withdraw(HERE, "m3", op=op())
    assert (await one.view(HERE)).wake == 60


async def test_a_message_that_waits_can_be_amended(one: State, two: State) -> None:
    """It keeps its id and its place, and starts with the new text. Contract 26."""
    lease = (await begin(one, message("m1"))).lease
    for id_ in ("m2", "m3"):
        await say(one, message(id_))
    assert await two.amend(HERE, "m2", EDIT, op=op()) == Amended()
    assert (await one.view(HERE)).waiting == (message("m2", payload=b"edited"), message("m3"))
    start = started(await finish(one, lease))
    assert start.inbounds == (message("m2", payload=b"edited"),)


async def test_an_edit_is_heard_once(one: State, two: State) -> None:
    """The second process to hear of it changes nothing, nor does an admit. Contract 18, 26, 75."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    await one.amend(HERE, "m2", EDIT, op=op())
    before = await everything(one)
    again = message("m2@1", payload=b"other")
    assert await two.amend(HERE, "m2", again, op=op()) == Duplicate("m1")
    assert await say(two, again) == Duplicate("m1")
    assert await everything(one) == before


async def test_an_edit_of_what_runs_asks_the_turn_to_make_room(one: State, two: State) -> None:
    """The edit waits first in line and becomes the turn in the old one's place. Contract 26, 28."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    edit = message("m1@1", payload=b"edited")
    assert await two.amend(HERE, "m1", edit, op=op()) == Superseding("m1")
    assert ids((await two.view(HERE)).waiting) == ["m1@1", "m2"]
    assert await one.renew([lease], LEASE) == [Held(SignalKind.SUPERSEDE, "ann")]
    start = started(await one.supersede(lease, op=op(), claim=CLAIM))
    assert (start.lease.turn, start.inbounds) == ("m1@1", (edit,))
    assert ids((await two.view(HERE)).waiting) == ["m2"]


async def test_an_edit_by_another_than_the_lead_is_not_lost(one: State, two: State) -> None:
    """Nor is the lead's message, which the new turn answers beside it. Contract 26, 28."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await one.take(lease, "k")
    edit = message("m2@1", "bob", b"edited")
    assert await two.amend(HERE, "m2", edit, op=op()) == Superseding("m1")
    start = started(await one.supersede(lease, op=op(), claim=CLAIM, carry=b"c"))
    assert (start.lease.turn, start.inbounds) == ("m2@1", (message("m1"), edit))
    assert (start.followups, start.carry) == (1, b"c")


async def test_an_edit_that_comes_too_late_changes_nothing(one: State, two: State) -> None:
    """Once a page is out, or a stop or kill has come: NotWaiting names the turn. Contract 26."""
    lease = (await begin(one, message("m1"))).lease
    await one.page(lease, 0, 0, b"first words")
    before = await everything(one)
    assert await two.amend(HERE, "m1", message("m1@1"), op=op()) == NotWaiting("m1")
    assert await everything(one) == before
    await finish(one, lease)
    for n, kind in enumerate((SignalKind.STOP, SignalKind.KILL)):
        lease = (await begin(one, message(f"n{n}"))).lease
        await two.signal(HERE, lease.turn, kind, by="eve", op=op())
        before = await everything(one)
        answer = await two.amend(HERE, lease.turn, message(f"n{n}@1"), op=op())
        assert answer == NotWaiting(lease.turn), kind
        assert await everything(one) == before
        await finish(one, lease)


async def test_an_edit_of_what_is_over_changes_nothing(one: State, two: State) -> None:
    """Answered or never heard of. Contract 26, 75."""
    await finish(one, (await begin(one, message("m1"))).lease)
    before = await everything(one)
    for id_ in ("m1", "m9"):
        assert await two.amend(HERE, id_, message(f"{id_}@1"), op=op()) == NotWaiting(None), id_
    assert await everything(one) == before
    assert started(await say(two, message("m9"))).lease.turn == "m9"


async def test_a_sweep_tells_of_an_edit_until_the_turn_has_made_room(
    one: State, two: State, clock: Clock
) -> None:
    """And the next holder is told, when this one dies. Contract 26, 55."""
    await begin(one, message("m1"))
    await two.amend(HERE, "m1", message("m1@1"), op=op())
    assert (await everything(one)).due.signals == (Signal(HERE, "m1", SignalKind.SUPERSEDE, "ann"),)
    start = await taken_over(two, clock)
    assert start.signal is SignalKind.SUPERSEDE
    await two.supersede(start.lease, op=op(), claim=CLAIM)
    assert (await everything(one)).due.signals == ()


async def test_a_withdrawal_sent_twice(one: State, two: State) -> None:
    """It answers what it removed. Contract 73."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    own = op()
    answer = await twice(one, two, lambda state: state.withdraw(HERE, "m2", op=own))
    assert answer == Withdrawn(message("m2"))


async def test_an_amendment_sent_twice(one: State, two: State) -> None:
    """It is no duplicate of itself: one edit waits, one request is pending. Contract 73."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    own, other = op(), op()
    answer = await twice(one, two, lambda state: state.amend(HERE, "m2", EDIT, op=own))
    assert answer == Amended()
    edit = message("m1@1")
    second = await twice(one, two, lambda state: state.amend(HERE, "m1", edit, op=other))
    assert second == Superseding("m1")
