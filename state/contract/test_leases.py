"""Leases: who may speak in a conversation, until when, and how everybody can tell."""

import asyncio
from dataclasses import replace

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    ELSEWHERE,
    FOLLOW_UP,
    HERE,
    LEASE,
    THERE,
    begin,
    claimed,
    everything,
    finish,
    is_due,
    message,
    number,
    op,
    say,
    started,
    taken_over,
)
from state.outcomes import Busy, Held, Lost, Turnover
from state.values import Changes, Claim, Conversation, Lease

pytestmark = pytest.mark.asyncio

#: Racers on each handle.
RACERS = 10


async def test_a_free_conversation_can_be_claimed(one: State, clock: Clock) -> None:
    """The lease names its conversation, turn, token and expiry in the future. Contract 1."""
    await say(one, message("m1"), claim=None)
    attempt = op()
    lease = started(await one.claim(HERE, op=attempt, claim=CLAIM)).lease
    assert (lease.conversation, lease.turn) == (HERE, "m1")
    assert lease.token == f"{number(lease)}-{attempt}"
    assert lease.expires == clock.milliseconds() + LEASE * 1000


async def test_a_claim_where_nothing_waits_starts_nothing(one: State) -> None:
    """An idle conversation has nobody to answer: no turn, no lease, no wake. Contract 1."""
    assert await one.claim(HERE, op=op(), claim=CLAIM) == Turnover()
    view = await one.view(HERE)
    assert (view.turn, view.wake) == (None, None)


async def test_a_held_conversation_is_busy_until_its_lease_ends(
    one: State, two: State, clock: Clock
) -> None:
    """A second claim is told for how long, and changes nothing. Contract 2."""
    await begin(one, message("m1"))
    clock.move(6)
    before = await everything(one)
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Busy(LEASE - 6)
    assert await everything(one) == before


async def test_a_released_conversation_can_be_claimed_again(one: State, two: State) -> None:
    """After the last turn is committed the next message starts at once. Contract 3."""
    first = await begin(one, message("m1"))
    await finish(one, first.lease)
    assert (await begin(two, message("m2"))).lease.turn == "m2"


async def test_an_expired_lease_goes_to_another_process(
    one: State, two: State, clock: Clock
) -> None:
    """The same turn is taken up under a new token, at the very moment of expiry. Contract 5."""
    first = await begin(one, message("m1"))
    clock.move(LEASE - 0.125)
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Busy(0.125)
    clock.move(0.125)
    second = await claimed(two)
    assert second.lease.turn == "m1"
    assert second.lease.token != first.lease.token


async def test_a_renewed_lease_lives_from_now_on(one: State, two: State, clock: Clock) -> None:
    """The seconds count from the renewal; the wake moves with the expiry. Contract 6."""
    lease = (await begin(one, message("m1"))).lease
    clock.move(10)
    assert await one.renew([lease], 30) == [Held()]
    assert (await one.view(HERE)).wake == 30
    clock.move(29)
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Busy(1)
    assert not await is_due(two)
    clock.move(1)
    assert await is_due(two)
    assert (await claimed(two)).lease.turn == "m1"


async def test_an_expired_lease_is_not_renewed(one: State, clock: Clock) -> None:
    """Though nobody has taken it yet: its holder was told that it may not speak. Contract 7."""
    lease = (await begin(one, message("m1"))).lease
    clock.move(LEASE)
    before = await everything(one)
    assert await one.renew([lease], LEASE) == [Lost()]
    assert await everything(one) == before


async def test_a_foreign_token_is_not_renewed(one: State, two: State, clock: Clock) -> None:
    """The whole token is compared, number and random part, and the expiry stays. Contract 7."""
    lease = (await begin(one, message("m1"))).lease
    clock.move(6)
    before = await everything(one)
    for foreign in foreign_tokens(lease):
        assert await two.renew([replace(lease, token=foreign)], LEASE) == [Lost()], foreign
    assert await everything(one) == before


async def test_a_stale_token_is_not_renewed(one: State, two: State, clock: Clock) -> None:
    """Who lost the conversation to another cannot prolong that one's lease. Contract 7."""
    stale = (await begin(one, message("m1"))).lease
    await taken_over(two, clock)
    clock.move(6)
    before = await everything(one)
    assert await one.renew([stale], LEASE) == [Lost()]
    assert await everything(one) == before


async def test_of_many_racing_claims_exactly_one_wins(one: State, two: State) -> None:
    """One of the racers is given the turn, all others find it busy. Contract 8."""
    await say(one, message("m1"), claim=None)
    await one_winner(one, two)


async def test_of_many_racing_for_an_expired_lease_exactly_one_wins(
    one: State, two: State, clock: Clock
) -> None:
    """As for a free conversation. Contract 8, 47."""
    await begin(one, message("m1"))
    clock.move(LEASE)
    await one_winner(one, two)


async def one_winner(one: State, two: State) -> None:
    """Let both handles race for the conversation; exactly one claim may be answered by a turn."""
    answers = await asyncio.gather(
        *(state.claim(HERE, op=op(), claim=CLAIM) for _ in range(RACERS) for state in (one, two))
    )
    winners = [answer for answer in answers if isinstance(answer, Turnover)]
    assert [started(answer).lease.turn for answer in winners] == ["m1"]
    assert answers.count(Busy(LEASE)) == 2 * RACERS - 1


async def test_tokens_grow_over_every_end_of_a_turn(one: State, two: State, clock: Clock) -> None:
    """By hand-over, expiry, failure, park, follow-up, release, and from nothing. Contract 10."""
    grown = [(await begin(one, message("m1"))).lease]
    await say(two, message("m2"))
    grown.append(started(await finish(one, grown[-1])).lease)
    grown.append((await taken_over(two, clock)).lease)
    await two.fail(grown[-1], "oops", Changes(), retry_in=1, limit=9, op=op(), claim=CLAIM)
    clock.move(1)
    grown.append((await claimed(one)).lease)
    await one.park(grown[-1], op=op())
    grown.append((await claimed(two)).lease)
    await say(one, message("m3"), could=FOLLOW_UP)
    grown.append(started(await two.supersede(grown[-1], op=op(), claim=CLAIM)).lease)
    await finish(two, grown[-1])
    grown.append((await begin(one, message("m4"))).lease)
    numbers = [number(lease) for lease in grown]
    assert numbers == sorted(set(numbers)), numbers


async def test_tokens_grow_when_the_clock_is_set_back(one: State, clock: Clock) -> None:
    """A number is never given twice, whatever the store's clock says. Contract 10."""
    first = (await begin(one, message("m1"))).lease
    await finish(one, first)
    clock.move(-3600)
    assert number((await begin(one, message("m2"))).lease) > number(first)


async def test_tokens_are_seeded_by_the_clock(one: State, clock: Clock) -> None:
    """So an old copy of the store, restored, gives none that was given since. Contract 11."""
    assert number((await begin(one, message("m1"))).lease) >= clock.milliseconds() * 1000
    clock.move(3600)
    lease = (await begin(one, message("m1"), at=THERE)).lease
    assert number(lease) >= clock.milliseconds() * 1000


async def test_conversations_of_one_partition_share_no_number(one: State, two: State) -> None:
    """The counter belongs to the partition, so a number names one claim of it. Contract 10."""
    leases = [
        (await begin(one, message("m1"))).lease,
        (await begin(two, message("m1"), at=THERE)).lease,
    ]
    assert len({number(lease) for lease in leases}) == 2


async def test_a_thousand_leases_are_renewed_at_once(one: State) -> None:
    """One call answers for each, in order, the lost ones too, over all partitions. Contract 13."""
    homes = [Conversation(f"guild/{n % 50}", f"{n}") for n in range(1000)]
    starts = await asyncio.gather(*(begin(one, message("m1"), at=home) for home in homes))
    leases = [start.lease for start in starts]
    leases[::7] = [replace(lease, token=f"1{lease.token}") for lease in leases[::7]]
    answers = await one.renew(leases, LEASE)
    assert answers == [Lost() if n % 7 == 0 else Held() for n in range(1000)]


async def test_losing_one_lease_leaves_the_others_of_a_process(
    one: State, two: State, clock: Clock
) -> None:
    """Release, loss and renewal concern one lease each. Contract 14."""
    lost = (await begin(one, message("m1"))).lease
    clock.move(8)
    released = (await begin(one, message("m1"), at=THERE)).lease
    kept = (await begin(one, message("m1"), at=ELSEWHERE)).lease
    await finish(one, released)
    clock.move(8)
    await claimed(two)
    assert await one.renew([lost, released, kept], LEASE) == [Lost(), Lost(), Held()]
    assert await one.record(kept, "still", "here", b"1") == b"1"


async def test_conversations_are_isolated(one: State, two: State, clock: Clock) -> None:
    """What happens in one is not felt in another, however alike their names are. Contract 15."""
    homes = [
        Conversation(owner, channel)
        for owner in ("guild/1", "guild/11", "guild/1/10", "user/1")
        for channel in ("10", "1", "10:1", "10/1")
    ]
    for home in homes:
        lease = (await begin(one, message("m1"), at=home)).lease
        await one.record(lease, "name", "key", f"{home}".encode())
        await say(two, message("m2"), at=home)
    await two.kill(homes[0], by="bob", op=op())
    others = [await one.view(home) for home in homes[1:]]
    assert all(view.turn and view.turn.signal is None and len(view.waiting) == 1 for view in others)
    clock.move(LEASE)
    for home in homes[1:]:
        assert [s.value for s in (await claimed(two, at=home)).steps] == [f"{home}".encode()]


async def test_a_lease_holds_only_for_its_conversation(one: State) -> None:
    """The token of one conversation opens no other. Contract 15."""
    lease = (await begin(one, message("m1"))).lease
    await begin(one, message("m1"), at=THERE)
    assert await one.renew([replace(lease, conversation=THERE)], LEASE) == [Lost()]


async def test_a_claim_is_for_as_long_as_it_says(one: State, clock: Clock) -> None:
    """The life of a lease is the caller's to choose, fractions of a second too. Contract 1."""
    await say(one, message("m1"), claim=None)
    lease = started(await one.claim(HERE, op=op(), claim=Claim(0.5))).lease
    assert lease.expires == clock.milliseconds() + 500
    assert (await one.view(HERE)).wake == 0.5


def foreign_tokens(lease: Lease) -> list[str]:
    """Return tokens that share a part with the lease's own."""
    own, _, random = lease.token.partition("-")
    return [f"{own}-{op()}", f"{int(own) + 1}-{random}", own, random, "", f"{lease.token} "]
