"""What the memory adapter keeps of one conversation, as plain mutable records."""

from collections import deque
from dataclasses import dataclass, field

from state.outcomes import (
    Entry,
    Running,
    Settled,
)
from state.values import (
    Conversation,
    Inbound,
    Outcome,
    Page,
    Signal,
    SignalKind,
    Step,
    Timer,
)


@dataclass(slots=True)
class Waiting:
    """An inbound in the inbox. Times are µs of the store's clock."""

    inbound: Inbound
    #: When it was admitted.
    at: int
    #: Until when it is held back.
    after: int = 0
    gather: bool = False
    #: Id of the inbound that it continues.
    joins: str | None = None


@dataclass(slots=True)
class Turn:
    """The head of a conversation, from its first start to its commit."""

    id: str
    #: Inbounds it was made of; those taken later are in `taken`.
    inbounds: tuple[Inbound, ...]
    admitted: int
    begun: int
    steps: dict[tuple[str, str], Step] = field(default_factory=dict)
    pages: dict[tuple[int, int], Page] = field(default_factory=dict)
    taken: dict[str, tuple[Inbound, ...]] = field(default_factory=dict)
    attempts: int = 0
    followups: int = 0
    #: Expiries of its lease since its last new step.
    expiries: int = 0
    carry: bytes | None = None
    signal: Signal | None = None
    #: Set by `reset` while the turn is unfinished: its end writes no state and no transcript.
    detached: bool = False
    #: What superseding it takes along: everybody's waiting inbounds instead of its lead's, …
    everyone: bool = False
    #: … and its own inbounds again, uncounted, because the rest of them has only now arrived.
    rejoined: bool = False

    @property
    def lead(self) -> str:
        """The author of the oldest inbound."""
        return self.inbounds[0].author

    @property
    def all_inbounds(self) -> tuple[Inbound, ...]:
        """Those it was made of, then those it took."""
        return self.inbounds + tuple(i for taken in self.taken.values() for i in taken)

    def includes(self, author: str) -> bool:
        """Whether *author* wrote one of its inbounds."""
        return any(inbound.author == author for inbound in self.all_inbounds)

    def pending(self) -> SignalKind | None:
        """The request that waits for it."""
        return self.signal.kind if self.signal else None

    def settled(self, outcome: Outcome) -> Settled:
        """Tell that it ended without running (again)."""
        return Settled(outcome, self.all_inbounds, self.id, tuple(self.pages.values()))

    def running(self, now: int, token: str | None) -> Running:
        """Show it to others; *token* is that of its living lease."""
        age, live = (now - self.begun) / 1e6, token is not None
        return Running(self.id, self.lead, self.all_inbounds, age, live, self.pending(), token)


@dataclass(slots=True)
class Letter:
    """A turn that was given up, with its error and the state it had been given."""

    id: str
    inbounds: tuple[Inbound, ...]
    error: str
    state: bytes | None
    at: int
    #: What could not be read.
    raw: bytes | None = None


@dataclass(slots=True)
class Line:
    """One transcript entry and whose it is; "" for ours."""

    entry: Entry
    author: str


@dataclass(slots=True)
class Alarm:
    """A timer, with its generation, its next occurrence and when that is (µs)."""

    timer: Timer
    generation: int
    due: int
    occurrence: int = 0


@dataclass(slots=True)
class Record:
    """Everything of one conversation. Times are microseconds of the store's clock."""

    conversation: Conversation
    inbox: deque[Waiting] = field(default_factory=deque)
    turn: Turn | None = None
    token: str | None = None
    expires: int = 0
    #: When somebody must look again; None exactly when nothing is pending.
    wake: int | None = None
    #: Until when the head backs off after a failure.
    backing_off: int = 0
    state: bytes | None = None
    state_version: int = 0
    transcript: list[Line] = field(default_factory=list)
    entries: int = 0
    dead: deque[Letter] = field(default_factory=deque)
    #: Answers given, by inbound id: when, and what; oldest first.
    given: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    alarms: dict[str, Alarm] = field(default_factory=dict)
    subscribed: bool = False

    def held(self, now: int) -> bool:
        """Whether somebody holds a living lease."""
        return self.living(now) is not None

    def living(self, now: int) -> str | None:
        """The token of the living lease."""
        return self.token if self.token is not None and self.expires > now else None

    def waiting(self, inbound: str) -> Waiting | None:
        """The entry of a waiting inbound."""
        return next((entry for entry in self.inbox if entry.inbound.id == inbound), None)

    def withdraw(self, author: str | None) -> tuple[Inbound, ...]:
        """Remove the waiting inbounds of *author* (or all); answer them, oldest first."""
        gone = tuple(w.inbound for w in self.inbox if author in (None, w.inbound.author))
        self.inbox = deque(w for w in self.inbox if author not in (None, w.inbound.author))
        return gone

    def idle(self) -> bool:
        """Whether nothing at all is left worth keeping."""
        nothing_pending = not self.inbox and not self.alarms and self.turn is None
        nothing_pending = nothing_pending and self.token is None
        nothing_kept = not (self.state is not None or self.transcript or self.dead or self.given)
        return nothing_pending and nothing_kept and not self.subscribed
