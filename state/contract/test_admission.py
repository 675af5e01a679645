"""Admission: what one inbound is, decided once against the stored turn."""

import asyncio

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    THERE,
    begin,
    everything,
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
)
from state.errors import Unacceptable
from state.outcomes import Admission, Duplicate, Ignored, Placed, Refusal, Settled, Turnover
from state.values import Changes, Claim, Could, Outcome, Overflow, Policy, SignalKind

pytestmark = pytest.mark.asyncio

#: Concurrent admits into one inbox.
CROWD = 100


async def test_a_message_to_an_idle_conversation_starts_at_once(one: State, two: State) -> None:
    """It is its own turn, place 0, and stays visible until it is acknowledged. Contract 16."""
    answer = placed(await say(one, message("m1")))
    assert answer.place == 0
    assert started(answer).inbounds == (message("m1"),)
    turn = (await two.view(HERE)).turn
    assert turn is not None
    assert (turn.id, turn.lead, turn.inbounds, turn.live) == ("m1", "ann", (message("m1"),), True)
    await finish(one, started(answer).lease)
    assert (await two.view(HERE)).turn is None


async def test_a_message_may_start_an_older_head(one: State, two: State, clock: Clock) -> None:
    """Whose holder has died: the answer names my place and that older turn. Contract 16, 22."""
    await begin(one, message("m1"))
    clock.move(LEASE)
    answer = placed(await say(two, message("m2")))
    assert answer.place == 1
    assert started(answer).lease.turn == "m1"


async def test_a_place_counts_what_is_ahead_after_the_step(
    one: State, two: State, clock: Clock
) -> None:
    """A stopped turn that the same step settles is ahead of nobody. Contract 16, 17."""
    lease = (await begin(one, message("m1"))).lease
    await say(two, message("m2", "bob"))
    await two.signal(HERE, lease.turn, SignalKind.STOP, by="eve", op=op())
    clock.move(LEASE)
    answer = placed(await say(two, message("m3", "cy")))
    assert started(answer).lease.turn == "m2"
    assert answer.place == 1


async def test_a_message_to_a_busy_conversation_queues_with_its_place(
    one: State, two: State
) -> None:
    """The running turn counts as one; nothing is started. Contract 17."""
    await begin(one, message("m1"))
    for place in (1, 2, 3):
        assert await say(two, message(f"m{place + 1}")) == Placed(place, Turnover())
    assert ids((await one.view(HERE)).waiting) == ["m2", "m3", "m4"]


async def test_a_message_that_waits_or_runs_is_a_duplicate(one: State, two: State) -> None:
    """From any process; the answer names the current turn, nothing changes. Contract 18."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    before = await everything(one)
    for again in ("m1", "m2"):
        assert await say(two, message(again)) == Duplicate("m1"), again
    assert await everything(one) == before


async def test_a_message_that_was_answered_is_a_duplicate(
    one: State, two: State, clock: Clock
) -> None:
    """For 26 h, though nothing else is left of the conversation. Contract 18."""
    await finish(one, (await begin(one, message("m1"))).lease)
    assert await say(two, message("m1")) == Duplicate(None)
    clock.move(26 * 3600 - 1)
    assert await say(two, message("m1")) == Duplicate(None)
    assert (await two.view(HERE)).turn is None


async def test_a_message_that_was_given_up_is_a_duplicate(one: State, two: State) -> None:
    """A dead letter is not started again by a second delivery. Contract 18."""
    lease = (await begin(one, message("m1"))).lease
    await one.fail(lease, "oops", Changes(), retry_in=None, limit=1, op=op(), claim=CLAIM)
    assert await say(two, message("m1")) == Duplicate(None)


async def test_a_message_that_was_turned_away_is_a_duplicate(one: State, two: State) -> None:
    """Ignored or refused: the second process to hear of it says nothing either. Contract 18, 24."""
    await begin(one, message("m1"))
    refused(await say(one, message("m2"), policy=Policy(drop=True)))
    assert await say(one, message("m3"), could=Could()) == Ignored()
    for again in ("m2", "m3"):
        assert await say(two, message(again)) == Duplicate("m1"), again


async def test_an_id_seen_in_one_conversation_is_new_in_another(one: State) -> None:
    """Ids are told apart within their conversation. Contract 15, 18."""
    await begin(one, message("m1"))
    assert (await begin(one, message("m1"), at=THERE)).lease.turn == "m1"


async def test_a_full_inbox_refuses_and_changes_nothing_else(one: State, two: State) -> None:
    """The running turn does not count among those that wait. Contract 20, 75."""
    policy = Policy(inbox=2, per_person=9)
    await begin(one, message("m1"))
    for waiting in ("m2", "m3"):
        placed(await say(one, message(waiting), policy=policy))
    before = await everything(one)
    assert refused(await say(two, message("m4"), policy=policy)).reason is Refusal.INBOX_FULL
    assert await everything(one) == before


async def test_bounds_under_which_nothing_could_wait_are_refused(one: State) -> None:
    """One is the least, so that what is taken can always be put somewhere. Contract 20, 75."""
    for inbox, per_person in ((0, 1), (1, 0), (-1, 1)):
        with pytest.raises(Unacceptable):
            Policy(inbox=inbox, per_person=per_person)
    await begin(one, message("m1"))
    policy = Policy(inbox=1, per_person=1)
    placed(await say(one, message("m2"), policy=policy))
    assert refused(await say(one, message("m3", "bob"), policy=policy)).reason is (
        Refusal.INBOX_FULL
    )


async def test_a_full_inbox_can_drop_its_oldest(one: State, two: State) -> None:
    """The dropped one is returned, so that its author can be told. Contract 20."""
    policy = Policy(inbox=2, per_person=9, overflow=Overflow.DROP_OLDEST)
    await begin(one, message("m1"))
    await say(one, message("m2"), policy=policy)
    await say(one, message("m3"), policy=policy)
    answer = placed(await say(two, message("m4"), policy=policy))
    assert settled(answer) == (Settled(Outcome.DROPPED, (message("m2"),)),)
    assert answer.place == 2
    assert ids((await two.view(HERE)).waiting) == ["m3", "m4"]


async def test_a_full_inbox_is_exact_under_a_crowd(one: State, two: State) -> None:
    """Of many admits at once one starts, as many wait as may, all others are told. Contract 20."""
    answers = await crowd(one, two, Policy(inbox=20, per_person=9))
    assert len([a for a in answers if isinstance(a, Placed)]) == 21
    view = await one.view(HERE)
    assert len(view.waiting) == 20


async def test_dropping_the_oldest_is_exact_under_a_crowd(one: State, two: State) -> None:
    """Each one runs, waits, or was returned as dropped: exactly one of these. Contract 20."""
    policy = Policy(inbox=20, per_person=9, overflow=Overflow.DROP_OLDEST)
    answers = await crowd(one, two, policy)
    dropped = [i for answer in answers for s in settled(answer) for i in s.inbounds]
    view = await one.view(HERE)
    assert view.turn is not None
    assert len(view.waiting) == 20
    everybody = ids(dropped) + ids(view.waiting) + [view.turn.id]
    assert sorted(everybody) == sorted(f"m{n}" for n in range(CROWD))


async def crowd(one: State, two: State, policy: Policy) -> list[Admission]:
    """Let as many people speak at once, half of them through each process."""
    return await asyncio.gather(
        *(say((one, two)[n % 2], message(f"m{n}", f"p{n}"), policy=policy) for n in range(CROWD))
    )


async def test_a_persons_share_of_the_inbox_is_bounded(one: State, two: State) -> None:
    """Of what waits, so many by one author; another one still gets in. Contract 21."""
    policy = Policy(inbox=9, per_person=2)
    await begin(one, message("m1"))
    for waiting in ("m2", "m3"):
        placed(await say(one, message(waiting), policy=policy))
    before = await everything(one)
    assert refused(await say(two, message("m4"), policy=policy)).reason is Refusal.SHARE_FULL
    assert await everything(one) == before
    placed(await say(two, message("m5", "bob"), policy=policy))


async def test_dropping_the_oldest_never_makes_room_for_one_over_their_share(one: State) -> None:
    """Else one person could push out everybody else's messages. Contract 21."""
    policy = Policy(inbox=2, per_person=1, overflow=Overflow.DROP_OLDEST)
    await begin(one, message("m1"))
    await say(one, message("m2", "bob"), policy=policy)
    await say(one, message("m3"), policy=policy)
    assert refused(await say(one, message("m4"), policy=policy)).reason is Refusal.SHARE_FULL
    assert ids((await one.view(HERE)).waiting) == ["m2", "m3"]


async def test_a_draining_process_starts_nothing(one: State, two: State) -> None:
    """A claim of None leaves the message with a wake that is due at once. Contract 16, 51."""
    assert await say(one, message("m1"), claim=None) == Placed(0, Turnover())
    view = await one.view(HERE)
    assert (view.turn, ids(view.waiting), view.wake) == (None, ["m1"], 0)
    assert await is_due(two)


async def test_what_could_be_nothing_is_ignored(one: State, two: State) -> None:
    """And leaves nothing but its mark, in an idle conversation as in a busy one. Contract 24."""
    before = await everything(one)
    assert await say(one, message("m1"), could=Could()) == Ignored()
    assert await everything(one) == before
    await begin(one, message("m2"))
    before = await everything(one)
    assert await say(two, message("m3", "bob"), could=Could(follow_up=True)) == Ignored()
    assert await everything(one) == before


async def test_over_age_messages_are_dropped_when_a_claim_comes(
    one: State, two: State, clock: Clock
) -> None:
    """They are returned as expired; the younger ones go on. Contract 24."""
    await say(one, message("m1"), claim=None)
    await say(one, message("m2"), claim=None)
    clock.move(50)
    await say(one, message("m3"), claim=None)
    clock.move(50)
    answer = await two.claim(HERE, op=op(), claim=Claim(LEASE, expire_after=60))
    assert settled(answer) == (Settled(Outcome.EXPIRED, (message("m1"), message("m2"))),)
    assert started(answer).lease.turn == "m3"


async def test_a_conversation_of_over_age_messages_becomes_idle(one: State, clock: Clock) -> None:
    """When all that waited is dropped nothing is started and no wake stays. Contract 24, 51."""
    await say(one, message("m1"), claim=None)
    clock.move(61)
    answer = await one.claim(HERE, op=op(), claim=Claim(LEASE, expire_after=60))
    assert answer == Turnover(None, (Settled(Outcome.EXPIRED, (message("m1"),)),))
    assert (await one.view(HERE)).wake is None


async def test_a_turn_that_was_begun_is_never_over_age(
    one: State, two: State, clock: Clock
) -> None:
    """Only what waits is dropped; an unfinished turn is taken up however old. Contract 24, 43."""
    await begin(one, message("m1"))
    clock.move(3600)
    start = started(await two.claim(HERE, op=op(), claim=Claim(LEASE, expire_after=60)))
    assert (start.lease.turn, start.waited) == ("m1", 3600)


async def test_a_hand_over_drops_over_age_messages_too(one: State, clock: Clock) -> None:
    """The next turn is the oldest that is young enough, as after a claim. Contract 24, 36."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    clock.move(8)
    await say(one, message("m3"))
    answer = await one.commit(lease, Changes(), op=op(), claim=Claim(LEASE, expire_after=5))
    assert settled(answer) == (Settled(Outcome.EXPIRED, (message("m2"),)),)
    assert started(answer).lease.turn == "m3"
