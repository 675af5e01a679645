"""Steal: a conversation is taken from a holder that does not answer."""

import asyncio

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    acquired,
    begin,
    claimed,
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
    twice,
)
from state.errors import LeaseLost
from state.outcomes import Busy, Held, Lost, Turnover
from state.ports import MAX_EXPIRIES
from state.values import Changes, Conversation, Outcome, Page, SignalKind, Step

pytestmark = pytest.mark.asyncio

#: Callers on each handle in a race.
RACERS = 20


async def living(state: State) -> str:
    """Return the token of the turn's living lease, as everybody sees it."""
    turn = (await state.view(HERE)).turn
    assert turn is not None
    assert turn.token is not None
    return turn.token


async def test_a_turn_is_stolen_with_all_it_has(one: State, two: State, clock: Clock) -> None:
    """Steps, pages and takes, under a whole lease and a greater number. Contract 9, 10, 47."""
    old = (await begin(one, message("m1"))).lease
    await one.record(old, "ask", "1", b"x")
    await one.page(old, 0, 0, b"y")
    await say(one, message("m2"))
    await one.take(old, "k")
    await say(one, message("m3"))
    clock.move(6)
    attempt = op()
    start = started(await two.steal(HERE, await living(two), op=attempt, claim=CLAIM))
    assert (start.lease.turn, ids(start.inbounds)) == ("m1", ["m1"])
    assert (start.steps, start.pages) == ((Step("ask", "1", b"x"),), (Page(0, 0, b"y"),))
    assert start.lease.token == f"{number(start.lease)}-{attempt}"
    assert start.lease.expires == clock.milliseconds() + LEASE * 1000
    assert number(start.lease) > number(old)
    assert ids(await two.take(start.lease, "k")) == ["m2"]
    assert ids((await one.view(HERE)).waiting) == ["m3"]


async def test_a_robbed_holder_is_refused_everywhere(one: State, two: State) -> None:
    """It learns it with its next step or renewal. Contract 9, 38."""
    old = (await begin(one, message("m1"))).lease
    new = started(await two.steal(HERE, old.token, op=op(), claim=CLAIM)).lease
    before = await everything(two)
    assert await one.renew([old], LEASE) == [Lost()]
    with pytest.raises(LeaseLost):
        await one.record(old, "a", "1", b"late")
    with pytest.raises(LeaseLost):
        await one.commit(old, Changes(state=b"late"), op=op(), claim=CLAIM)
    assert await everything(two) == before
    assert await two.renew([new], LEASE) == [Held()]


async def test_of_many_racing_stealers_exactly_one_wins(one: State, two: State) -> None:
    """The others named a token that is no longer the living one. Contract 9."""
    old = (await begin(one, message("m1"))).lease
    answers = await asyncio.gather(
        *(
            state.steal(HERE, old.token, op=op(), claim=CLAIM)
            for _ in range(RACERS)
            for state in (one, two)
        )
    )
    winners = [answer for answer in answers if isinstance(answer, Turnover)]
    assert [started(answer).lease.turn for answer in winners] == ["m1"]
    assert answers.count(Busy(LEASE)) == 2 * RACERS - 1


async def test_a_steal_from_somebody_else_is_refused(one: State, two: State, clock: Clock) -> None:
    """A holder that came since is not robbed, nor one that never was. Contract 9, 75."""
    old = (await begin(one, message("m1"))).lease
    new = (await taken_over(one, clock)).lease
    clock.move(4)
    before = await everything(one)
    assert await two.steal(HERE, old.token, op=op(), claim=CLAIM) == Busy(LEASE - 4)
    assert await two.steal(HERE, f"1{new.token}", op=op(), claim=CLAIM) == Busy(LEASE - 4)
    assert await everything(one) == before
    assert await one.renew([new], LEASE) == [Held()]
    await finish(one, new)
    assert await two.steal(HERE, new.token, op=op(), claim=CLAIM) == Busy(0)


async def test_a_theft_counts_nothing(one: State, two: State, clock: Clock) -> None:
    """Neither an exception nor an expiry, however often. Contract 44."""
    start = await begin(one, message("m1"))
    for _ in range(MAX_EXPIRIES + 1):
        start = started(await two.steal(HERE, start.lease.token, op=op(), claim=CLAIM))
    assert (start.lease.turn, start.attempts) == ("m1", 0)
    for _ in range(MAX_EXPIRIES - 1):
        assert (await taken_over(one, clock)).lease.turn == "m1"


async def test_a_stolen_turn_that_was_asked_to_end_is_settled(one: State, two: State) -> None:
    """A mute holder cannot keep a stop or kill from acting; the next one starts. Contract 9, 55."""
    for n, (kind, outcome) in enumerate(
        ((SignalKind.STOP, Outcome.STOPPED), (SignalKind.KILL, Outcome.KILLED))
    ):
        home = Conversation("guild/1", f"c{n}")
        old = (await begin(one, message("m1"), at=home)).lease
        await say(one, message("m2", "bob"), at=home)
        await two.signal(home, "m1", kind, by="eve", op=op())
        answer = await two.steal(home, old.token, op=op(), claim=CLAIM)
        assert [(s.outcome, s.turn) for s in settled(answer)] == [(outcome, "m1")], kind
        assert started(answer).lease.turn == "m2", kind


async def test_a_conversation_held_without_a_turn_can_be_stolen(one: State, two: State) -> None:
    """What waits is started; with nothing waiting it is free. Contract 9, 51."""
    lease = await acquired(one)
    assert await two.steal(HERE, lease.token, op=op(), claim=CLAIM) == Turnover()
    assert await one.renew([lease], LEASE) == [Lost()]
    lease = await acquired(one)
    await say(one, message("m1"))
    answer = await two.steal(HERE, lease.token, op=op(), claim=CLAIM)
    assert started(answer).lease.turn == "m1"


async def test_a_parked_turn_is_claimed_and_not_stolen(one: State, two: State) -> None:
    """Nobody holds it, so there is no token to name. Contract 9, 50."""
    lease = (await begin(one, message("m1"))).lease
    await one.park(lease, op=op())
    assert await two.steal(HERE, lease.token, op=op(), claim=CLAIM) == Busy(0)
    assert (await claimed(two)).lease.turn == "m1"


async def test_a_steal_sent_twice(one: State, two: State) -> None:
    """The thief is told again of its own turn, not that another was quicker. Contract 73."""
    old = (await begin(one, message("m1"))).lease
    own = op()
    answer = await twice(one, two, lambda state: state.steal(HERE, old.token, op=own, claim=CLAIM))
    assert await two.record(started(answer).lease, "a", "b", b"c") == b"c"
