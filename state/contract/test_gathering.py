"""Gathering: what is held back, what becomes one turn, and when a quiet period ends."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    HERE,
    LEASE,
    acquired,
    begin,
    claimed,
    finish,
    ids,
    is_due,
    message,
    op,
    placed,
    refused,
    say,
    settled,
    started,
    taken_over,
)
from state.outcomes import Held, Placed, Refusal, Started, Superseding, Turnover
from state.values import Changes, Claim, Could, Outcome, Overflow, Policy, SignalKind

pytestmark = pytest.mark.asyncio

LOOSE = Policy(inbox=9, per_person=9)
GATHER = Policy(inbox=9, per_person=9, gather=True)
QUIET = Policy(inbox=9, per_person=9, gather=True, quiet=2, quiet_most=5)
LATER = Policy(inbox=9, per_person=9, not_before=8)


def joining(id_: str) -> Could:
    """Return what the rest of a message that the client split could be."""
    return Could(trigger=True, joins=id_)


async def due_in(state: State) -> float | None:
    """Tell in how many seconds somebody must look again."""
    return (await state.view(HERE)).wake


# --- held back -----------------------------------------------------------------------------------


async def test_a_message_can_be_held_back(one: State, two: State, clock: Clock) -> None:
    """It starts nothing before its time, and is due then. Contract 16, 29."""
    assert await say(one, message("m1"), policy=LATER) == Placed(0, Turnover())
    assert (await due_in(two), await is_due(two)) == (8, False)
    clock.move(7)
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Turnover()
    assert await due_in(two) == 1
    clock.move(1)
    assert await is_due(two)
    assert (await claimed(two)).lease.turn == "m1"


async def test_a_message_that_is_held_back_blocks_nobody(
    one: State, two: State, clock: Clock
) -> None:
    """Those that came after it start before it. Contract 29."""
    await say(one, message("m1"), policy=LATER)
    answer = placed(await say(two, message("m2", "bob")))
    assert (answer.place, started(answer).lease.turn) == (0, "m2")
    assert await finish(two, started(answer).lease) == Turnover()
    assert await due_in(one) == 8
    clock.move(8)
    assert (await claimed(one)).lease.turn == "m1"


async def test_an_admit_moves_the_wake_to_the_first_that_may_start(
    one: State, clock: Clock
) -> None:
    """Earlier, never later. Contract 29, 54."""
    await say(one, message("m1"), policy=LATER)
    await say(one, message("m2"), policy=Policy(not_before=3))
    assert await due_in(one) == 3
    await say(one, message("m3"), policy=Policy(not_before=20))
    assert await due_in(one) == 3


async def test_what_is_held_back_is_part_of_no_gathering(one: State, clock: Clock) -> None:
    """Not before its time; and it drops out by age like anything that waits. Contract 24, 29."""
    await say(one, message("m1"), policy=Policy(gather=True, not_before=8))
    start = started(await say(one, message("m2"), policy=GATHER))
    assert ids(start.inbounds) == ["m2"]
    clock.move(12)
    answer = await one.commit(start.lease, Changes(), op=op(), claim=Claim(LEASE, expire_after=9))
    assert [(s.outcome, ids(s.inbounds)) for s in settled(answer)] == [(Outcome.EXPIRED, ["m1"])]


async def test_what_is_held_back_survives_its_process(one: State, two: State, clock: Clock) -> None:
    """A kill drops it and a stop withdraws it like anything that waits. Contract 27, 29."""
    await say(one, message("m1"), policy=LATER)
    await one.close()
    killed = await two.kill(HERE, by="eve", op=op())
    assert (ids(killed.dropped), await due_in(two)) == (["m1"], None)


# --- gathering -----------------------------------------------------------------------------------


async def test_what_gathers_while_a_turn_runs_becomes_one_turn(one: State, two: State) -> None:
    """Of everybody, oldest first, under the newest one's id. Contract 16, 36."""
    lease = (await begin(one, message("m1"))).lease
    for id_, author in (("m2", "ann"), ("m3", "bob"), ("m4", "ann")):
        await say(two, message(id_, author), policy=GATHER)
    start = started(await finish(one, lease))
    assert (start.lease.turn, ids(start.inbounds)) == ("m4", ["m2", "m3", "m4"])
    view = await two.view(HERE)
    assert view.turn is not None
    assert (view.turn.lead, view.waiting) == ("ann", ())
    assert await finish(one, start.lease) == Turnover()


async def test_what_does_not_gather_is_a_turn_of_its_own(one: State) -> None:
    """Whether it is the head or stands between those that gather. Contract 16, 22."""
    lease = (await begin(one, message("m1"))).lease
    for id_, policy in (("m2", GATHER), ("m3", LOOSE), ("m4", GATHER), ("m5", LOOSE)):
        await say(one, message(id_), policy=policy)
    turns = []
    while (answer := await finish(one, lease)).started is not None:
        lease = answer.started.lease
        turns.append(ids(answer.started.inbounds))
    assert turns == [["m2", "m4"], ["m3"], ["m5"]]


async def test_a_gathered_turn_is_taken_up_as_it_was(one: State, two: State, clock: Clock) -> None:
    """Its inbounds and the age of the oldest survive its holder. Contract 22, 47."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"), policy=GATHER)
    clock.move(4)
    await say(one, message("m3", "bob"), policy=GATHER)
    await finish(one, lease)
    await say(one, message("m4"), policy=GATHER)
    again = await taken_over(two, clock)
    assert (again.lease.turn, ids(again.inbounds)) == ("m3", ["m2", "m3"])
    assert again.waited == LEASE + 4
    assert ids((await one.view(HERE)).waiting) == ["m4"]


# --- quiet ---------------------------------------------------------------------------------------


async def test_a_quiet_period_holds_a_conversation_back(
    one: State, two: State, clock: Clock
) -> None:
    """Each message that gathers begins it anew; then all become one turn. Contract 16, 54."""
    assert await say(one, message("m1"), policy=QUIET) == Placed(0, Turnover())
    assert await due_in(two) == 2
    clock.move(1.5)
    assert await say(two, message("m2", "bob"), policy=QUIET) == Placed(1, Turnover())
    assert await due_in(two) == 2
    clock.move(2)
    start = await claimed(one)
    assert (start.lease.turn, ids(start.inbounds)) == ("m2", ["m1", "m2"])


async def test_a_quiet_period_has_an_end(one: State, clock: Clock) -> None:
    """However much is said, it is due so many seconds after the oldest. Contract 54."""
    for n in range(5):
        await say(one, message(f"m{n}"), policy=QUIET)
        assert await due_in(one) == min(2, 5 - n)
        clock.move(1)
    assert await is_due(one)
    assert ids((await claimed(one)).inbounds) == ["m0", "m1", "m2", "m3", "m4"]


async def test_a_quiet_period_is_of_a_conversation_without_a_turn(one: State, two: State) -> None:
    """What is said while a turn runs has waited enough when it is over. Contract 36, 54."""
    lease = (await begin(one, message("m1"))).lease
    await say(two, message("m2"), policy=QUIET)
    assert await due_in(two) == LEASE
    assert started(await finish(one, lease)).lease.turn == "m2"


async def test_a_quiet_period_keeps_the_wake_of_a_holder(
    one: State, two: State, clock: Clock
) -> None:
    """A conversation that is held without a turn is looked at when its lease ends. Contract 51."""
    lease = await acquired(one)
    await say(two, message("m1"), policy=QUIET)
    assert await due_in(two) == LEASE
    assert await one.release(lease, op=op(), claim=CLAIM) == Turnover()
    assert await due_in(two) == 2


async def test_a_quiet_period_does_not_hold_back_what_does_not_gather(
    one: State, two: State
) -> None:
    """A command is answered at once, before what is still being typed. Contract 16, 22."""
    await say(one, message("m1"), policy=QUIET)
    answer = placed(await say(two, message("m2", "bob")))
    assert (answer.place, started(answer).lease.turn) == (0, "m2")


# --- continued -----------------------------------------------------------------------------------


async def test_the_rest_of_a_message_waits_with_it(one: State, two: State) -> None:
    """A split paste is one turn, though nothing gathers. Contract 22."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await say(one, message("m3", "cy"))
    await say(one, message("m4", "bob"), could=joining("m2"))
    await say(one, message("m5", "bob"), could=joining("m4"))
    start = started(await finish(one, lease))
    assert (start.lease.turn, ids(start.inbounds)) == ("m5", ["m2", "m4", "m5"])
    assert ids((await two.view(HERE)).waiting) == ["m3"]


async def test_the_rest_of_a_message_joins_the_turn_that_answers_it(one: State, two: State) -> None:
    """The turn makes room and begins anew with all of it; it is no follow-up. Contract 24, 28."""
    old = (await begin(one, message("m1"))).lease
    policy = Policy(max_followups=1)
    assert await say(two, message("m2"), could=joining("m1"), policy=policy) == Superseding("m1")
    assert await one.renew([old], LEASE) == [Held(SignalKind.SUPERSEDE, "ann")]
    start = started(await one.supersede(old, op=op(), claim=CLAIM))
    assert (start.lease.turn, ids(start.inbounds), start.followups) == ("m2", ["m1", "m2"], 0)
    assert await say(two, message("m3"), could=joining("m1"), policy=policy) == Superseding("m2")
    start = started(await one.supersede(start.lease, op=op(), claim=CLAIM))
    assert (ids(start.inbounds), start.followups) == (["m1", "m2", "m3"], 0)


async def test_the_rest_of_anothers_message_joins_the_turn_too(one: State, two: State) -> None:
    """Of a turn of several people nobody's words are lost. Contract 24, 28."""
    lease = (await begin(one, message("m1"))).lease
    for id_, author in (("m2", "ann"), ("m3", "bob")):
        await say(two, message(id_, author), policy=GATHER)
    lease = started(await finish(one, lease)).lease
    await say(two, message("m4", "cy"))
    assert await say(two, message("m5", "bob"), could=joining("m3")) == Superseding("m3")
    start = started(await one.supersede(lease, op=op(), claim=CLAIM))
    assert (start.lease.turn, ids(start.inbounds)) == ("m5", ["m2", "m3", "m5"])
    assert ids((await two.view(HERE)).waiting) == ["m4"]


async def test_the_rest_of_a_message_that_is_over_is_a_message(one: State, two: State) -> None:
    """Also of one whose turn carries a stop. Contract 24."""
    lease = (await begin(one, message("m1"))).lease
    await two.signal(HERE, "m1", SignalKind.KILL, by="eve", op=op())
    assert await say(two, message("m2"), could=joining("m1")) == Placed(1)
    await finish(one, started(await finish(one, lease)).lease)
    assert started(await say(two, message("m3"), could=joining("m1"))).lease.turn == "m3"


async def test_the_rest_of_a_message_is_held_to_the_bounds(one: State, two: State) -> None:
    """Share and depth hold for it too; the turn is not signalled then. Contract 20, 21."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    tight = Policy(per_person=1)
    answer = await say(two, message("m3"), could=joining("m1"), policy=tight)
    assert refused(answer).reason is Refusal.SHARE_FULL
    assert await one.renew([lease], LEASE) == [Held()]


# --- interrupting and dropping -------------------------------------------------------------------


async def test_an_interruption_takes_the_place_of_any_turn(one: State, two: State) -> None:
    """
    Whoever wrote either; all that waits becomes the new turn.

    With what others than their authors had in the old one. Contract 24, 28.
    """
    policy = Policy(inbox=9, per_person=9, interrupt=True, max_followups=1)
    lease = (await begin(one, message("m0"))).lease
    await say(one, message("m1", "cy"))
    for n, author in ((2, "bob"), (3, "ann"), (4, "bob")):
        answer = await say(two, message(f"m{n}", author), policy=policy)
        assert answer == Superseding(lease.turn), "there is no limit to interruptions"
        assert await one.renew([lease], LEASE) == [Held(SignalKind.SUPERSEDE, author)]
        start: Started = started(await one.supersede(lease, op=op(), claim=CLAIM))
        lease = start.lease
        expected = {2: ["m0", "m1", "m2"], 3: ["m1", "m2", "m3"], 4: ["m1", "m3", "m4"]}
        assert ids(start.inbounds) == expected[n]
    assert (await two.view(HERE)).waiting == ()


async def test_a_turn_that_carries_a_stop_is_not_interrupted(one: State, two: State) -> None:
    """The message waits for its end. Contract 24, 57."""
    lease = (await begin(one, message("m1"))).lease
    await two.signal(HERE, "m1", SignalKind.STOP, by="eve", op=op())
    assert await say(two, message("m2", "bob"), policy=Policy(interrupt=True)) == Placed(1)
    assert await one.renew([lease], LEASE) == [Held(SignalKind.STOP, "eve")]


async def test_a_busy_conversation_can_turn_messages_away(one: State, two: State) -> None:
    """While a turn runs or anything waits; an idle one takes the next. Contract 16, 20."""
    policy = Policy(drop=True)
    lease = started(await say(one, message("m1"), policy=policy)).lease
    assert refused(await say(two, message("m2", "bob"), policy=policy)).reason is Refusal.BUSY
    await say(two, message("m3"))
    await finish(one, lease, claim=None)
    assert refused(await say(two, message("m4", "bob"), policy=policy)).reason is Refusal.BUSY
    await finish(one, (await claimed(one)).lease)
    assert started(await say(two, message("m5"), policy=policy)).lease.turn == "m5"


async def test_a_follow_up_is_not_turned_away(one: State, two: State) -> None:
    """It is not a second thing to do, but the first one corrected. Contract 24."""
    await begin(one, message("m1"))
    policy = Policy(drop=True)
    assert await say(two, message("m2"), could=FOLLOW_UP, policy=policy) == Superseding("m1")


async def test_dropping_the_oldest_counts_what_is_held_back(one: State) -> None:
    """It waits like anything else, and may have to make room. Contract 20, 29."""
    policy = Policy(inbox=1, per_person=9, overflow=Overflow.DROP_OLDEST, not_before=8)
    await say(one, message("m1"), policy=policy)
    answer = await say(one, message("m2", "bob"), policy=policy)
    assert [(s.outcome, ids(s.inbounds)) for s in settled(answer)] == [(Outcome.DROPPED, ["m1"])]
    assert ids((await one.view(HERE)).waiting) == ["m2"]
