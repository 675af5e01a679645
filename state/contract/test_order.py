"""Order: first in, first out, whoever holds, dies, stops or races."""

import asyncio

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    GAPS,
    HERE,
    LEASE,
    begin,
    claimed,
    due,
    finish,
    ids,
    is_due,
    message,
    op,
    placed,
    race,
    say,
    started,
    taken_over,
    turnover_of,
)
from state.outcomes import Busy, Lost, Turnover
from state.values import Changes, Conversation, SignalKind

pytestmark = pytest.mark.asyncio


async def test_messages_are_answered_in_the_order_they_came(one: State, two: State) -> None:
    """Each hand-over starts the oldest, whichever process commits. Contract 22, 36."""
    lease = (await begin(one, message("m0"))).lease
    for n in range(1, 6):
        await say((one, two)[n % 2], message(f"m{n}", f"p{n}"))
    for n in range(1, 6):
        lease = started(await finish((one, two)[n % 2], lease)).lease
        assert lease.turn == f"m{n}"
    assert await finish(one, lease) == Turnover()


async def test_what_waited_while_idle_starts_before_what_comes(one: State, two: State) -> None:
    """A message that could be started is queued behind the older ones. Contract 22."""
    await say(one, message("m1"), claim=None)
    await say(one, message("m2"), claim=None)
    answer = placed(await say(two, message("m3")))
    assert (answer.place, started(answer).lease.turn) == (2, "m1")
    assert ids((await two.view(HERE)).waiting) == ["m2", "m3"]


async def test_an_unfinished_turn_starts_before_what_waits(
    one: State, two: State, clock: Clock
) -> None:
    """Over expiry, park and failure; nothing newer overtakes it. Contract 22, 43, 50."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    again = await taken_over(two, clock)
    await two.park(again.lease, op=op())
    again = await claimed(one)
    assert again.lease.turn == "m1"
    await one.fail(again.lease, "oops", Changes(), retry_in=5, limit=9, op=op(), claim=CLAIM)
    assert (await taken_over(two, clock)).lease.turn == "m1"
    assert ids((await one.view(HERE)).waiting) == ["m2"]


async def test_the_order_of_a_crowd_is_the_order_of_acceptance(one: State, two: State) -> None:
    """Of ten messages at once each is told its own place, and they start so. Contract 30."""
    messages = [message(f"m{n}", f"p{n}") for n in range(10)]
    answers = await asyncio.gather(
        *(say((one, two)[n % 2], messages[n], claim=None) for n in range(10))
    )
    places = {placed(answer).place: messages[n].id for n, answer in enumerate(answers)}
    assert sorted(places) == list(range(10))
    assert ids((await one.view(HERE)).waiting) == [places[place] for place in range(10)]


async def test_a_release_racing_an_admit_strands_nobody(one: State, two: State) -> None:
    """At every gap one of the two starts the message, and never both. Contract 23."""
    for gap in GAPS:
        home = Conversation("guild/1", f"c{gap}")
        lease = (await begin(one, message("m1"), at=home)).lease
        committed, admitted = await race(gap, finish(one, lease), say(two, message("m2"), at=home))
        starts = [t.started for t in (committed, turnover_of(admitted)) if t.started]
        assert [start.lease.turn for start in starts] == ["m2"], gap
        view = await one.view(home)
        assert view.turn is not None
        assert (view.turn.id, view.turn.live, view.waiting) == ("m2", True, ()), gap


async def test_a_draining_release_racing_an_admit_strands_nobody(one: State, two: State) -> None:
    """What a process that takes nothing leaves behind is started or due. Contract 23, 37."""
    for gap in GAPS:
        home = Conversation("guild/1", f"c{gap}")
        lease = (await begin(one, message("m1"), at=home)).lease
        _, admitted = await race(
            gap, finish(one, lease, claim=None), say(two, message("m2"), at=home)
        )
        if turnover_of(admitted).started is None:
            assert await is_due(two, home), gap
            assert (await claimed(two, at=home)).lease.turn == "m2"


async def test_a_failure_racing_an_admit_strands_nobody(one: State, two: State) -> None:
    """Giving a turn up hands over as a commit does. Contract 23, 45."""
    for gap in GAPS:
        home = Conversation("guild/1", f"c{gap}")
        lease = (await begin(one, message("m1"), at=home)).lease
        given_up = one.fail(lease, "no", Changes(), retry_in=None, limit=1, op=op(), claim=CLAIM)
        failed, admitted = await race(gap, given_up, say(two, message("m2"), at=home))
        starts = [t.started for t in (turnover_of(failed), turnover_of(admitted)) if t.started]
        assert [start.lease.turn for start in starts] == ["m2"], gap


async def test_a_kill_racing_a_commit_lets_nothing_start_that_waited(
    one: State, two: State
) -> None:
    """Either the kill drops it, or it had started and is killed as the turn. Contract 27."""
    for gap in GAPS:
        home = Conversation("guild/1", f"c{gap}")
        lease = (await begin(one, message("m1"), at=home)).lease
        await say(one, message("m2"), at=home)
        committed, killed = await race(gap, finish(one, lease), two.kill(home, by="bob", op=op()))
        view = await one.view(home)
        assert view.waiting == (), gap
        if committed.started is None:
            assert ids(killed.dropped) == ["m2"], gap
            assert view.turn is None, gap
        else:
            assert killed.dropped == (), gap
            assert view.turn is not None
            assert (view.turn.id, view.turn.signal) == ("m2", SignalKind.KILL), gap


async def test_two_who_saw_the_same_due_list_get_each_conversation_once(
    one: State, two: State, clock: Clock
) -> None:
    """Sweeps may overlap: a claim gives a conversation to one of them. Contract 47, 48."""
    homes = [Conversation("guild/1", f"c{n}") for n in range(8)]
    for home in homes:
        await begin(one, message("m1"), at=home)
    clock.move(LEASE)
    seen = [(state, home) for state in (one, two) for home in (await due(state)).conversations]
    assert len(seen) == 2 * len(homes)
    answers = await asyncio.gather(
        *(state.claim(home, op=op(), claim=CLAIM) for state, home in seen)
    )
    winners = [
        a.started.lease.conversation for a in answers if isinstance(a, Turnover) and a.started
    ]
    assert sorted(winners, key=str) == sorted(homes, key=str)
    assert sum(isinstance(answer, Busy) for answer in answers) == len(homes)


async def test_a_claim_racing_a_renewal_leaves_one_holder(
    one: State, two: State, clock: Clock
) -> None:
    """At the edge of expiry a lease is either renewed or gone, never both. Contract 7, 8."""
    for gap in GAPS:
        home = Conversation("guild/1", f"c{gap}")
        lease = (await begin(one, message("m1"), at=home)).lease
        clock.move(LEASE)
        (renewed,), taken = await race(
            gap, one.renew([lease], LEASE), two.claim(home, op=op(), claim=CLAIM)
        )
        assert renewed == Lost()
        assert started(taken).lease.turn == "m1"
