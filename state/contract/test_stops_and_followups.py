"""Admission against a running turn: stops, follow-ups, and what they fall back to."""

import asyncio

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    HERE,
    LEASE,
    ROOMY,
    STOP_ANY,
    STOP_OWN,
    begin,
    everything,
    finish,
    ids,
    message,
    op,
    refused,
    say,
    settled,
    started,
    turnover_of,
)
from state.outcomes import (
    Duplicate,
    Held,
    Ignored,
    Placed,
    Refusal,
    Signalled,
    Superseding,
)
from state.ports import MAX_EXPIRIES
from state.values import Changes, Could, Outcome, Policy, SignalKind, StopRight

pytestmark = pytest.mark.asyncio


async def test_a_stop_by_its_author_signals_the_turn(one: State, two: State) -> None:
    """The holder is asked by name; what the author has waiting is withdrawn. Contract 24."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    await say(one, message("m3", "bob"))
    answer = await say(two, message("s1"), could=STOP_OWN)
    assert answer == Signalled("m1", (message("m2"),))
    assert await one.renew([lease], LEASE) == [Held(SignalKind.STOP, "ann")]
    assert ids((await one.view(HERE)).waiting) == ["m3"]


async def test_a_stop_by_somebody_who_was_taken_into_the_turn_signals_it(one: State) -> None:
    """Who wrote one of its inbounds takes part, taken ones included. Contract 24, 28."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await one.take(lease, "gather")
    assert await say(one, message("s1", "bob"), could=STOP_OWN) == Signalled("m1")


async def test_a_stop_by_a_stranger_does_not_touch_the_turn(one: State, two: State) -> None:
    """Without a right on it a stop phrase is a message like any other. Contract 24."""
    lease = (await begin(one, message("m1"))).lease
    before = await everything(one)
    assert await say(two, message("s1", "bob"), could=STOP_OWN) == Ignored()
    assert await everything(one) == before
    could = Could(trigger=True, stop=StopRight.OWN)
    assert await say(two, message("s2", "bob"), could=could) == Placed(1)
    assert await one.renew([lease], LEASE) == [Held()]


async def test_a_stop_with_every_right_signals_any_turn(one: State, two: State) -> None:
    """It withdraws what the turn's author has waiting, not the moderator's own. Contract 24."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    await say(one, message("m3", "bob"))
    assert await say(two, message("s1", "bob"), could=STOP_ANY) == Signalled("m1", (message("m2"),))
    assert await one.renew([lease], LEASE) == [Held(SignalKind.STOP, "bob")]
    assert ids((await one.view(HERE)).waiting) == ["m3"]


async def test_a_stop_without_a_turn_of_ones_own_withdraws_what_waits(
    one: State, two: State
) -> None:
    """The person's waiting messages go, in order; the other's turn runs on. Contract 24."""
    lease = (await begin(one, message("m1"))).lease
    for id_, author in (("m2", "bob"), ("m3", "cy"), ("m4", "bob")):
        await say(one, message(id_, author))
    answer = await say(two, message("s1", "bob"), could=STOP_OWN)
    assert answer == Signalled(None, (message("m2", "bob"), message("m4", "bob")))
    assert ids((await one.view(HERE)).waiting) == ["m3"]
    assert await one.renew([lease], LEASE) == [Held()]


async def test_a_stop_that_empties_a_free_conversation_leaves_no_wake(one: State) -> None:
    """Nothing is pending any more, so nobody has to look again. Contract 51."""
    await say(one, message("m1"), claim=None)
    assert await say(one, message("s1"), could=STOP_OWN) == Signalled(None, (message("m1"),))
    assert (await one.view(HERE)).wake is None


async def test_a_stop_ends_a_turn_whose_holder_died(one: State, two: State, clock: Clock) -> None:
    """It is settled here and now, with its pages, and the next one starts. Contract 24, 55."""
    lease = (await begin(one, message("m1"))).lease
    await one.page(lease, 0, 0, b"half")
    await one.posted(lease, 0, 0, "900")
    await say(one, message("m2", "bob"))
    clock.move(LEASE)
    answer = await say(two, message("s1"), could=STOP_OWN)
    assert isinstance(answer, Signalled)
    assert answer.turn == "m1"
    ended = settled(answer)
    assert [(s.outcome, s.turn, ids(s.inbounds)) for s in ended] == [
        (Outcome.STOPPED, "m1", ["m1"])
    ]
    assert [(p.number, p.message_id) for p in ended[0].pages] == [(0, "900")]
    assert started(answer).lease.turn == "m2"


async def test_a_stop_ends_a_turn_that_waits_for_its_retry(one: State, two: State) -> None:
    """A stop is not kept waiting by a back-off. Contract 24, 43."""
    lease = (await begin(one, message("m1"))).lease
    await one.fail(lease, "busy", Changes(), retry_in=600, limit=3, op=op(), claim=CLAIM)
    answer = await say(two, message("s1"), could=STOP_OWN)
    assert [s.outcome for s in settled(answer)] == [Outcome.STOPPED]
    assert (await one.view(HERE)).turn is None


async def test_a_draining_process_settles_what_a_stop_ends(
    one: State, two: State, clock: Clock
) -> None:
    """A stop is not kept waiting by a deploy; what waits is left for another. Contract 24, 37."""
    await begin(one, message("m1"))
    await say(one, message("m2", "bob"))
    clock.move(LEASE)
    answer = await say(two, message("s1"), could=STOP_OWN, claim=None)
    assert [(s.outcome, s.turn) for s in settled(answer)] == [(Outcome.STOPPED, "m1")]
    assert turnover_of(answer).started is None
    view = await two.view(HERE)
    assert (view.turn, ids(view.waiting), view.wake) == (None, ["m2"], 0)


async def test_a_draining_process_counts_no_expiry(one: State, two: State, clock: Clock) -> None:
    """Who starts nothing leaves an unfinished turn as it is. Contract 37, 44."""
    await begin(one, message("m1"))
    for n in range(MAX_EXPIRIES):
        clock.move(LEASE)
        await say(two, message(f"n{n}", "bob"), claim=None)
    assert (await everything(one)).view.dead_letters == 0
    assert started(await say(two, message("n9", "bob"))).lease.turn == "m1"


async def test_a_follow_up_asks_the_turn_to_make_room(one: State, two: State) -> None:
    """It waits, and the holder of its author's turn is told of it. Contract 24."""
    lease = (await begin(one, message("m1"))).lease
    assert await say(two, message("m2"), could=FOLLOW_UP) == Superseding("m1")
    assert await one.renew([lease], LEASE) == [Held(SignalKind.SUPERSEDE, "ann")]
    assert ids((await one.view(HERE)).waiting) == ["m2"]


async def test_only_the_lead_of_a_turn_follows_up(one: State) -> None:
    """Another's follow-up is a message like any other; so is one to nothing. Contract 24."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await one.take(lease, "gather")
    assert await say(one, message("m3", "bob"), could=FOLLOW_UP) == Placed(1)
    await finish(one, lease, claim=None)
    assert started(await say(one, message("m4", "cy"), could=FOLLOW_UP)).lease.turn == "m3"


async def test_a_turn_that_carries_a_stop_is_not_followed_up(one: State, two: State) -> None:
    """What its author says next is a new message, after the stop. Contract 24, 57."""
    for n, kind in enumerate((SignalKind.STOP, SignalKind.KILL)):
        lease = (await begin(one, message(f"m{n}"))).lease
        await one.signal(HERE, lease.turn, kind, by="bob", op=op())
        answer = await say(two, message(f"f{n}"), could=Could(follow_up=True))
        assert answer == Ignored(), kind
        await finish(one, lease)


async def test_a_turn_is_followed_up_only_so_often(one: State, two: State) -> None:
    """Beyond the bound a follow-up waits its turn like any message. Contract 24, 28."""
    policy = Policy(inbox=9, per_person=9, max_followups=2)
    lease = (await begin(one, message("m0"))).lease
    for n in (1, 2):
        answer = await say(two, message(f"m{n}"), could=FOLLOW_UP, policy=policy)
        assert answer == Superseding(lease.turn)
        lease = started(await one.supersede(lease, op=op(), claim=CLAIM)).lease
    assert await say(two, message("m3"), could=FOLLOW_UP, policy=policy) == Placed(1)
    assert await one.renew([lease], LEASE) == [Held()]


async def test_an_early_follow_up_needs_a_turn_without_a_page(one: State, two: State) -> None:
    """Once something is on Discord the reply is let finish. Contract 24."""
    policy = Policy(early_only=True)
    lease = (await begin(one, message("m1"))).lease
    assert await say(two, message("m2"), could=FOLLOW_UP, policy=policy) == Superseding("m1")
    await one.page(lease, 0, 0, b"first words")
    assert await say(two, message("m3"), could=FOLLOW_UP, policy=policy) == Placed(2)


async def test_a_follow_up_is_held_to_the_bounds(one: State, two: State) -> None:
    """Share and depth hold for it too; the turn is not signalled then. Contract 20, 21, 75."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"), policy=ROOMY)
    before = await everything(one)
    for n, (policy, reason) in enumerate(
        (
            (Policy(inbox=9, per_person=1), Refusal.SHARE_FULL),
            (Policy(inbox=1, per_person=9), Refusal.INBOX_FULL),
        )
    ):
        answer = await say(two, message(f"f{n}"), could=FOLLOW_UP, policy=policy)
        assert refused(answer).reason is reason
    assert await everything(one) == before
    assert await one.renew([lease], LEASE) == [Held()]


async def test_a_follow_up_to_a_turn_without_a_holder_starts_it(
    one: State, two: State, clock: Clock
) -> None:
    """The next holder learns at once that it must make room. Contract 24, 47."""
    await begin(one, message("m1"))
    clock.move(LEASE)
    answer = await say(two, message("m2"), could=FOLLOW_UP)
    assert isinstance(answer, Superseding)
    assert (started(answer).lease.turn, started(answer).signal) == ("m1", SignalKind.SUPERSEDE)


async def test_a_head_that_backs_off_is_not_started_by_a_message(
    one: State, two: State, clock: Clock
) -> None:
    """What comes meanwhile waits behind it, and the wake stays. Contract 43, 54."""
    lease = (await begin(one, message("m1"))).lease
    await one.fail(lease, "busy", Changes(), retry_in=60, limit=3, op=op(), claim=CLAIM)
    clock.move(20)
    assert await say(two, message("m2", "bob")) == Placed(1)
    assert (await one.view(HERE)).wake == 40


async def test_a_message_heard_by_two_processes_acts_once(one: State, two: State) -> None:
    """Stop, follow-up or trigger: one of them acts, the other is told Duplicate. Contract 24."""
    lease = (await begin(one, message("m1"))).lease
    for n, could in enumerate((Could(trigger=True), FOLLOW_UP, STOP_OWN)):
        heard = message(f"e{n}")
        answers = await asyncio.gather(*(say(s, heard, could=could) for s in (one, two)))
        assert answers.count(Duplicate("m1")) == 1, answers
    assert await one.renew([lease], LEASE) == [Held(SignalKind.STOP, "ann")]
