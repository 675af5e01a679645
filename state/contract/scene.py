"""Short ways to speak to a `State`, so that a test reads as the story that it tells."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from state import State
from state.contract.factory import Clock
from state.keys import Scope
from state.listings import DeadLetter, Scheduled
from state.outcomes import (
    Admission,
    Due,
    Entry,
    Placed,
    Refused,
    Settled,
    Signalled,
    Started,
    Superseding,
    Turnover,
    View,
)
from state.partition import partition_of
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Policy,
    StopRight,
)

T = TypeVar("T")
U = TypeVar("U")

#: Two conversations of one owner, and one of another.
HERE = Conversation("guild/1", "10")
THERE = Conversation("guild/1", "11")
ELSEWHERE = Conversation("user/7", "70")

#: Seconds of a lease in these tests.
LEASE = 16.0
CLAIM = Claim(LEASE)

TRIGGER = Could(trigger=True)
FOLLOW_UP = Could(trigger=True, follow_up=True)
STOP_OWN = Could(stop=StopRight.OWN)
STOP_ANY = Could(stop=StopRight.ANY)

#: Bounds that no test meets by accident.
ROOMY = Policy(inbox=1000, per_person=1000)

#: More due conversations and signals than any test makes.
ALL = 100_000


#: One person's, one conversation's and an owner's keys; all in the partition of `HERE`.
PERSONAL = Scope(HERE.owner, person="ann")
LOCAL = Scope(HERE.owner, HERE.id)
SHARED = Scope(HERE.owner)


def op() -> str:
    """Return an operation id that nobody used."""
    return secrets.token_hex(12)


def message(id: str, author: str = "ann", payload: bytes = b"hello") -> Inbound:  # noqa: A002
    """Return an inbound."""
    return Inbound(id, author, payload)


async def say(
    state: State,
    inbound: Inbound,
    *,
    at: Conversation = HERE,
    could: Could = TRIGGER,
    policy: Policy = ROOMY,
    claim: Claim | None = CLAIM,
) -> Admission:
    """Admit *inbound* under an operation id of its own."""
    return await state.admit(at, inbound, could, policy, op=op(), claim=claim)


async def begin(state: State, inbound: Inbound, *, at: Conversation = HERE) -> Started:
    """Admit *inbound* where nothing is pending; return the turn that it starts."""
    return started(await say(state, inbound, at=at))


async def claimed(state: State, *, at: Conversation = HERE) -> Started:
    """Claim what is pending; return the turn that it starts."""
    return started(await state.claim(at, op=op(), claim=CLAIM))


async def finish(
    state: State,
    lease: Lease,
    changes: Changes | None = None,
    *,
    claim: Claim | None = CLAIM,
) -> Turnover:
    """Commit under an operation id of its own; the commit must not be refused for drift."""
    answer = await state.commit(lease, changes or Changes(), op=op(), claim=claim)
    assert isinstance(answer, Turnover), answer
    return answer


def turnover_of(answer: object) -> Turnover:
    """Return the hand-over that an answer tells of."""
    match answer:
        case Turnover():
            return answer
        case Placed() | Superseding() | Signalled():
            return answer.turnover
        case _:
            raise AssertionError(f"{answer!r} tells of no hand-over")


def started(answer: object) -> Started:
    """Return the turn that an answer starts; it must start one."""
    start = turnover_of(answer).started
    assert start is not None, f"{answer!r} started nothing"
    return start


def settled(answer: object) -> tuple[Settled, ...]:
    """Return what an answer says was settled on the way."""
    return turnover_of(answer).settled


def ids(inbounds: Sequence[Inbound]) -> list[str]:
    """Return the ids of *inbounds*, in their order."""
    return [inbound.id for inbound in inbounds]


def number(lease: Lease) -> int:
    """Return the number in a lease's token, the part that grows."""
    return int(lease.token.partition("-")[0])


def placed(answer: Admission) -> Placed:
    """Return *answer*, which must be a place in the inbox."""
    assert isinstance(answer, Placed), answer
    return answer


def refused(answer: Admission) -> Refused:
    """Return *answer*, which must be a refusal."""
    assert isinstance(answer, Refused), answer
    return answer


# --- the whole of a conversation -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Everything:
    """All that can be read of one conversation without changing it."""

    view: View
    history: tuple[Entry, ...]
    due: Due
    subscribed: bool
    letters: tuple[DeadLetter, ...]
    timers: tuple[Scheduled, ...]


async def everything(state: State, at: Conversation = HERE) -> Everything:
    """Read the whole of a conversation; two equal answers mean that nothing was changed."""
    return Everything(
        await state.view(at),
        await state.history(at, limit=ALL),
        await due(state, at),
        await state.is_subscribed(at),
        (await state.dead_letters(at.owner, limit=ALL)).letters,
        (await state.schedules(at.owner, limit=ALL)).timers,
    )


async def due(state: State, at: Conversation = HERE, limit: int = ALL) -> Due:
    """List what the partition of *at* wants looked at."""
    return await state.due(partition_of(at.owner, state.partitions), limit)


async def is_due(state: State, at: Conversation = HERE) -> bool:
    """Whether a sweep would find this very conversation now."""
    return at in (await due(state, at)).conversations


async def taken_over(state: State, clock: Clock, *, at: Conversation = HERE) -> Started:
    """
    Let the lease of a silent holder end and claim its turn.

    What the next holder is given is the only sight of a turn's steps, pages and counts.
    """
    wake = (await state.view(at)).wake
    assert wake is not None, "nobody would ever look at this conversation again"
    clock.move(max(0.0, wake))
    return await claimed(state, at=at)


async def twice(one: State, two: State, step: Callable[[State], Awaitable[T]]) -> T:
    """
    Take *step* on one handle, then again on the other, and return the answer.

    *step* has its operation id bound. A step that did happen is not known to have, when its answer
    was lost; so the second answer must be the first, and the second effect none.
    """
    answer = await step(one)
    before = await everything(one)
    assert await step(two) == answer
    assert await everything(one) == before
    return answer


async def acquired(state: State, *, at: Conversation = HERE) -> Lease:
    """Hold a conversation without a turn; it must be free."""
    answer = await state.acquire(at, op=op(), claim=CLAIM)
    assert isinstance(answer, Lease), answer
    return answer


# --- races ---------------------------------------------------------------------------------------

#: Turns of the event loop by which a race shifts its two steps against each other.
GAPS = range(-12, 13)


async def after(turns: int, step: Awaitable[T]) -> T:
    """Await *step* after so many turns of the event loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return await step


async def race(gap: int, first: Awaitable[T], second: Awaitable[U]) -> tuple[T, U]:
    """Run two steps at once, the *second* behind by *gap* turns of the loop, or ahead."""
    return await asyncio.gather(after(max(0, -gap), first), after(max(0, gap), second))
