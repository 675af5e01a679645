"""What the steps of the state port answer: outcomes are values, to be matched exhaustively."""

from dataclasses import dataclass, field
from enum import StrEnum

from state.values import (
    Conversation,
    Inbound,
    Lease,
    Outcome,
    Page,
    Signal,
    SignalKind,
    Step,
)

# --- hand-over -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Settled:
    """Inbounds that a step acknowledged without running them, and the pages they had."""

    outcome: Outcome
    inbounds: tuple[Inbound, ...]
    #: Id of their turn when they had begun one, with what it has on Discord; else None and empty.
    turn: str | None = None
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """A turn that the caller now holds: new, or taken up where another holder left it."""

    lease: Lease
    #: Oldest first; those that the turn `take`s later are not among them.
    inbounds: tuple[Inbound, ...]
    #: In the order in which they were recorded.
    steps: tuple[Step, ...] = ()
    pages: tuple[Page, ...] = ()
    #: Exceptions this turn has ended in so far.
    attempts: int = 0
    #: How often in a row it superseded its forerunner.
    followups: int = 0
    #: What `supersede` handed on about the turn that this one replaces.
    carry: bytes | None = None
    #: A request that arrived while nobody held the turn. A stop or kill never gets here: it ends
    #: the turn inside the claim.
    signal: SignalKind | None = None
    state: bytes | None = None
    state_version: int = 0
    #: Seconds since the oldest inbound was admitted.
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class Turnover:
    """The end of a hand-over: what starts next, if anything, and what was settled on the way."""

    started: Started | None = None
    settled: tuple[Settled, ...] = ()


@dataclass(frozen=True, slots=True)
class Busy:
    """The conversation cannot be claimed for *seconds*: it is held, or backing off."""

    seconds: float


# --- admit ---------------------------------------------------------------------------------------


class Refusal(StrEnum):
    """Why an inbound that could have been a trigger was not taken."""

    INBOX_FULL = "inbox full"
    SHARE_FULL = "share full"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Placed:
    """
    The inbound is in the inbox.

    *place* counts the inbounds ahead of it, a running turn as one. *turnover* tells whether it was
    started: at place 0, unless the claim was None, the conversation is held without a turn, or the
    inbound is held back; at another place an older head was, when the holder of the conversation
    had died.
    """

    place: int
    turnover: Turnover = field(default_factory=Turnover)


@dataclass(frozen=True, slots=True)
class Superseding:
    """A follow-up: it waits, and *turn* has been asked to make room for it."""

    turn: str
    turnover: Turnover = field(default_factory=Turnover)


@dataclass(frozen=True, slots=True)
class Signalled:
    """
    A stop or kill took effect.

    *turn* is the turn that was signalled, None when only waiting inbounds were withdrawn. With a
    live holder the holder ends it; without one *turnover* tells that it was settled here and now.
    """

    turn: str | None
    withdrawn: tuple[Inbound, ...] = ()
    turnover: Turnover = field(default_factory=Turnover)


@dataclass(frozen=True, slots=True)
class Refused:
    """The inbound was not taken; nothing else changed."""

    reason: Refusal


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The id was admitted before. *turn* is the conversation's current turn, if any."""

    turn: str | None = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """The inbound could have been something, and is nothing."""


Admission = Placed | Superseding | Signalled | Refused | Duplicate | Ignored


# --- the holder's steps --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Held:
    """A renewed lease, with the request that waits for its turn."""

    signal: SignalKind | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """A lease that was not renewed, because its token is not the living one."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The commit was refused, since *unasked* recorded steps were not asked for by this run."""

    unasked: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Retrying:
    """The failed turn stays at the head and is due again in *seconds*."""

    attempts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class NotRunning:
    """The turn that a signal was meant for is over."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """An inbound that waited and was removed."""

    inbound: Inbound


@dataclass(frozen=True, slots=True)
class Amended:
    """An inbound that waits, now with its new payload."""


@dataclass(frozen=True, slots=True)
class NotWaiting:
    """The inbound does not wait. *turn* is the current turn if the inbound is part of it."""

    turn: str | None = None


@dataclass(frozen=True, slots=True)
class Killed:
    """
    What a kill hit.

    *turn* is the turn that was asked to die (by a live holder) or was settled in *turnover*.
    """

    turn: "Running | None"
    dropped: tuple[Inbound, ...] = ()
    turnover: Turnover = field(default_factory=Turnover)


# --- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Running:
    """A turn as others see it."""

    id: str
    #: Author of its oldest inbound: the one who follows up.
    lead: str
    inbounds: tuple[Inbound, ...]
    #: Seconds since it was first started.
    age: float
    #: Whether somebody holds a living lease on it.
    live: bool
    signal: SignalKind | None = None
    #: The living lease's token, for `steal`. Two stores may number their tokens differently.
    token: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class View:
    """One conversation at one moment."""

    turn: Running | None
    #: Oldest first.
    waiting: tuple[Inbound, ...]
    subscribed: bool
    #: Seconds until somebody must look again; None when nothing is pending.
    wake: float | None
    dead_letters: int = 0


@dataclass(frozen=True, slots=True)
class Due:
    """What one partition wants looked at."""

    #: Earliest wake first.
    conversations: tuple[Conversation, ...]
    #: Requests whose turn has not ended yet.
    signals: tuple[Signal, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a transcript; *number* grows within the conversation."""

    number: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """One page of the subscribed conversations; *cursor* is None on the last."""

    conversations: tuple[Conversation, ...]
    cursor: str | None


# --- operating -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forgetting:
    """How far a forget has come. Not *done*: call it again."""

    done: bool
    #: Conversations, or traces of an author, that this batch removed.
    removed: int


@dataclass(frozen=True, slots=True)
class ShardLease:
    """The right to serve a range of shards until it expires; *epoch* grows with each new owner."""

    name: str
    epoch: int
    token: str
    #: Milliseconds of the store's clock.
    expires: int
