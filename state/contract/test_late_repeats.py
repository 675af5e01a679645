"""A repeat that comes when the turn that its step started is over: the first answer stands."""

from collections.abc import Awaitable, Callable

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    HERE,
    LEASE,
    ROOMY,
    TRIGGER,
    begin,
    claimed,
    everything,
    finish,
    message,
    op,
    say,
    started,
)
from state.outcomes import Drift, Turnover
from state.ports import OP_WINDOW
from state.values import Changes, Conversation, Lease, SignalKind

pytestmark = pytest.mark.asyncio

Step = Callable[[State], Awaitable[object]]


async def park(state: State, clock: Clock, lease: Lease) -> None:
    """Give the lease back."""
    await state.park(lease, op=op())


async def fail(state: State, clock: Clock, lease: Lease) -> None:
    """Give the lease back until a retry."""
    await state.fail(lease, "no", Changes(), retry_in=9, limit=9, op=op(), claim=CLAIM)


async def give_up(state: State, clock: Clock, lease: Lease) -> None:
    """Make a dead letter of the turn."""
    await state.fail(lease, "no", Changes(), retry_in=None, limit=9, op=op(), claim=CLAIM)


async def commit(state: State, clock: Clock, lease: Lease) -> None:
    """End the turn."""
    await finish(state, lease)


async def take_over(state: State, clock: Clock, lease: Lease) -> None:
    """Let the lease expire and another take it."""
    clock.move(LEASE)
    await claimed(state, at=lease.conversation)


async def stop_unheld(state: State, clock: Clock, lease: Lease) -> None:
    """Let the lease expire and settle the turn."""
    clock.move(LEASE)
    await state.signal(lease.conversation, lease.turn, SignalKind.STOP, by="eve", op=op())


ENDS = (park, fail, give_up, commit, take_over, stop_unheld)


async def stays_started(
    one: State, two: State, clock: Clock, prepare: Callable[[Conversation], Awaitable[Step]]
) -> None:
    """Take the step that *prepare* gives, end what it started in each way, and send it again."""
    for end in ENDS:
        home = Conversation("guild/1", end.__name__)
        step = await prepare(home)
        answer = await step(one)
        await end(two, clock, started(answer).lease)
        before = await everything(one, home)
        assert await step(two) == answer, end.__name__
        assert await everything(one, home) == before, end.__name__


async def test_an_admit_sent_again_when_its_turn_is_over(
    one: State, two: State, clock: Clock
) -> None:
    """It is no duplicate of itself, however the turn ended. Contract 19, 73."""

    async def prepare(home: Conversation) -> Step:
        own = op()
        return lambda s: s.admit(home, message("m1"), TRIGGER, ROOMY, op=own, claim=CLAIM)

    await stays_started(one, two, clock, prepare)


async def test_a_claim_sent_again_when_its_turn_is_over(
    one: State, two: State, clock: Clock
) -> None:
    """It claims nothing anew. Contract 73."""

    async def prepare(home: Conversation) -> Step:
        own = op()
        await say(one, message("m1"), at=home, claim=None)
        return lambda s: s.claim(home, op=own, claim=CLAIM)

    await stays_started(one, two, clock, prepare)


async def test_a_commit_sent_again_when_the_next_turn_is_over(
    one: State, two: State, clock: Clock
) -> None:
    """It is not refused, though its lease is long gone. Contract 37, 73."""

    async def prepare(home: Conversation) -> Step:
        own, lease = op(), (await begin(one, message("m1"), at=home)).lease
        await say(one, message("m2"), at=home)
        return lambda s: s.commit(lease, Changes(), op=own, claim=CLAIM)

    await stays_started(one, two, clock, prepare)


async def test_a_giving_up_sent_again_when_the_next_turn_is_over(
    one: State, two: State, clock: Clock
) -> None:
    """As a commit. Contract 45, 73."""

    async def prepare(home: Conversation) -> Step:
        own, lease = op(), (await begin(one, message("m1"), at=home)).lease
        await say(one, message("m2"), at=home)
        return lambda s: s.fail(lease, "no", Changes(), retry_in=None, limit=9, op=own, claim=CLAIM)

    await stays_started(one, two, clock, prepare)


async def test_a_supersede_sent_again_when_the_new_turn_is_over(
    one: State, two: State, clock: Clock
) -> None:
    """As a commit. Contract 28, 73."""

    async def prepare(home: Conversation) -> Step:
        own, lease = op(), (await begin(one, message("m1"), at=home)).lease
        await say(one, message("m2"), at=home, could=FOLLOW_UP)
        return lambda s: s.supersede(lease, op=own, claim=CLAIM)

    await stays_started(one, two, clock, prepare)


async def test_a_commit_sent_again_much_later(one: State, two: State, clock: Clock) -> None:
    """Within its window the first answer stands, whatever happened since. Contract 37, 73."""
    lease = (await begin(one, message("m1"))).lease
    own = op()

    async def step(state: State) -> Turnover | Drift:
        return await state.commit(lease, Changes(), op=own, claim=CLAIM)

    assert await step(one) == Turnover()
    following = (await begin(two, message("m2"))).lease
    await say(two, message("m3"))
    await finish(two, following)
    clock.move(OP_WINDOW - 1)
    before = await everything(one, HERE)
    assert await step(one) == Turnover()
    assert await everything(one, HERE) == before
