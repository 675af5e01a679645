"""A step of a holder whose lease does not hold is refused and changes nothing, not a prefix."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    LEASE,
    begin,
    claimed,
    everything,
    finish,
    message,
    op,
    say,
    started,
    taken_over,
)
from state.errors import LeaseLost
from state.outcomes import Started
from state.values import Changes, Conversation, Lease, SignalKind

pytestmark = pytest.mark.asyncio

#: Stands for the two conversations whose turns are compared.
NOWHERE = Conversation("-", "-")

#: What a stale holder would leave behind if anything of it landed.
TRACE = Changes(state=b"trace", state_version=9, transcript=(b"trace",))


@dataclass(slots=True)
class Stage:
    """Two processes, their clock, and a conversation in which a lease becomes stale."""

    one: State
    two: State
    clock: Clock
    home: Conversation

    async def opening(self) -> Lease:
        """Begin a turn with a step and a page; two messages wait behind it."""
        lease = (await begin(self.one, message("m1"), at=self.home)).lease
        await self.one.record(lease, "kept", "1", b"kept")
        await self.one.page(lease, 0, 0, b"kept")
        await say(self.one, message("m2"), at=self.home, could=FOLLOW_UP)
        await say(self.one, message("m3", "bob"), at=self.home)
        return lease

    async def revealed(self) -> tuple[Started, list[bytes]]:
        """Take the turn up when its time has come; tell all that its holder is given."""
        start = await taken_over(self.two, self.clock, at=self.home)
        history = await self.two.history(self.home)
        nameless = replace(start.lease, conversation=NOWHERE, token="", expires=0)
        alike = replace(start, lease=nameless, waited=0)
        return alike, [entry.payload for entry in history]


async def foreign(stage: Stage) -> Lease:
    """Tell the number of the living lease and not its random part."""
    lease = await stage.opening()
    return replace(lease, token=f"{lease.token.partition('-')[0]}-{op()}")


async def expired(stage: Stage) -> Lease:
    """Let a lease end that nobody has taken since."""
    lease = await stage.opening()
    stage.clock.move(LEASE)
    return lease


async def taken(stage: Stage) -> Lease:
    """Let another process take the expired lease."""
    lease = await stage.opening()
    stage.clock.move(LEASE)
    await claimed(stage.two, at=stage.home)
    return lease


async def handed_over(stage: Stage) -> Lease:
    """Commit, so that the next turn runs."""
    lease = await stage.opening()
    await finish(stage.one, lease)
    return lease


async def freed(stage: Stage) -> Lease:
    """Commit and start nothing."""
    lease = await stage.opening()
    await finish(stage.one, lease, claim=None)
    return lease


async def superseded(stage: Stage) -> Lease:
    """Let a follow-up take the turn's place."""
    lease = await stage.opening()
    await stage.one.supersede(lease, op=op(), claim=CLAIM)
    return lease


async def parked(stage: Stage) -> Lease:
    """Give the lease back."""
    lease = await stage.opening()
    await stage.one.park(lease, op=op())
    return lease


async def failed(stage: Stage) -> Lease:
    """Give the lease back until a retry."""
    lease = await stage.opening()
    await stage.one.fail(lease, "no", Changes(), retry_in=9, limit=9, op=op(), claim=CLAIM)
    return lease


STORIES = (foreign, expired, taken, handed_over, freed, superseded, parked, failed)


async def leaves_no_trace(
    one: State, two: State, clock: Clock, step: Callable[[Lease], Awaitable[object]]
) -> None:
    """
    Try *step* with each kind of lease that does not hold.

    It must be refused, nothing that can be read may change, and the next holder must be given what
    it is given in a twin conversation where nobody tried.
    """
    for story in STORIES:
        tried = Stage(one, two, clock, Conversation("guild/1", f"{story.__name__}"))
        stale = await story(tried)
        before = await everything(two, tried.home)
        with pytest.raises(LeaseLost):
            await step(stale)
        assert await everything(two, tried.home) == before, story.__name__
        twin = Stage(one, two, clock, Conversation("guild/1", f"{story.__name__}-twin"))
        await story(twin)
        assert await tried.revealed() == await twin.revealed(), story.__name__


async def test_a_stale_holder_records_no_step(one: State, two: State, clock: Clock) -> None:
    """Its effect belongs to nobody. Contract 38, 75."""
    await leaves_no_trace(one, two, clock, lambda lease: one.record(lease, "trace", "1", b"x"))


async def test_a_stale_holder_records_no_page(one: State, two: State, clock: Clock) -> None:
    """So it sends nothing: a page is recorded before its request. Contract 38, 75."""
    await leaves_no_trace(one, two, clock, lambda lease: one.page(lease, 1, 0, b"trace"))


async def test_a_stale_holder_records_no_message_id(one: State, two: State, clock: Clock) -> None:
    """The page is the next holder's to send. Contract 38, 75."""
    await leaves_no_trace(one, two, clock, lambda lease: one.posted(lease, 0, 0, "900"))


async def test_a_stale_holder_takes_nothing(one: State, two: State, clock: Clock) -> None:
    """What waits stays where it is. Contract 28, 38, 75."""
    await leaves_no_trace(one, two, clock, lambda lease: one.take(lease, "trace"))


async def test_a_stale_holder_commits_nothing(one: State, two: State, clock: Clock) -> None:
    """Neither acknowledgement, state nor transcript, nor the next turn. Contract 38, 75."""
    await leaves_no_trace(
        one, two, clock, lambda lease: one.commit(lease, TRACE, op=op(), claim=CLAIM)
    )


async def test_a_stale_holder_counts_no_failure(one: State, two: State, clock: Clock) -> None:
    """Nor does it move the wake. Contract 38, 44, 75."""
    await leaves_no_trace(
        one,
        two,
        clock,
        lambda lease: one.fail(lease, "trace", TRACE, retry_in=30, limit=9, op=op(), claim=CLAIM),
    )


async def test_a_stale_holder_gives_nothing_up(one: State, two: State, clock: Clock) -> None:
    """The turn is no dead letter while another can still end it. Contract 38, 45, 75."""
    await leaves_no_trace(
        one,
        two,
        clock,
        lambda lease: one.fail(lease, "trace", TRACE, retry_in=None, limit=9, op=op(), claim=CLAIM),
    )


async def test_a_stale_holder_parks_nothing(one: State, two: State, clock: Clock) -> None:
    """The lease of the living holder stays with it. Contract 4, 38, 75."""
    await leaves_no_trace(one, two, clock, lambda lease: one.park(lease, op=op()))


async def test_a_stale_holder_supersedes_nothing(one: State, two: State, clock: Clock) -> None:
    """The follow-up is the living holder's to make room for. Contract 28, 38, 75."""
    await leaves_no_trace(
        one,
        two,
        clock,
        lambda lease: one.supersede(lease, op=op(), claim=CLAIM, carry=b"x", changes=TRACE),
    )


async def test_a_refused_step_can_be_sent_again(one: State, two: State, clock: Clock) -> None:
    """It is refused again: a refusal is never mistaken for a first answer. Contract 38, 73."""
    lease = (await begin(one, message("m1"))).lease
    clock.move(LEASE)
    own = op()
    for state in (one, two):
        with pytest.raises(LeaseLost):
            await state.commit(lease, TRACE, op=own, claim=CLAIM)


async def test_a_living_holder_is_refused_nothing(one: State, two: State, clock: Clock) -> None:
    """However close to its end: the last moment of a lease is as good as the first. Contract 38."""
    lease = (await begin(one, message("m1"))).lease
    await two.signal(lease.conversation, "m1", SignalKind.KILL, by="eve", op=op())
    clock.move(LEASE - 0.125)
    assert await one.record(lease, "a", "1", b"x") == b"x"
    await one.page(lease, 0, 0, b"y")
    await one.posted(lease, 0, 0, "900")
    assert await one.take(lease, "k") == ()
    await finish(one, lease)
    assert started(await say(two, message("m2"))).lease.turn == "m2"
