"""
The values that callers hand to the state port and that travel through it.

All are frozen. Payloads are opaque bytes to every store; ids are strings (Discord's ids pass 2^53,
where a Lua or JavaScript number loses digits). Durations are seconds; points in time are
milliseconds of the store's own clock and are only ever shown, never compared with a local clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from state.errors import Unacceptable
from state.ids import PAYLOAD_LIMIT, checked_id
from state.keys import Put

#: Seconds between two occurrences of a timer. Relation: far above the microsecond of the stores.
SHORTEST_CADENCE = 0.125


@dataclass(frozen=True, slots=True)
class Conversation:
    """A channel, thread or DM. *owner* (`guild/<id>`, `user/<id>`) decides the partition."""

    owner: str
    id: str

    def __post_init__(self) -> None:
        """Refuse ids that some store could not hold."""
        checked_id(self.owner, "owner")
        checked_id(self.id, "conversation")


@dataclass(frozen=True, slots=True)
class Inbound:
    """One message, command, press or timer as plain data. *id* is its dedupe key."""

    id: str
    author: str
    payload: bytes

    def __post_init__(self) -> None:
        """Refuse ids that some store could not hold, and payloads over `PAYLOAD_LIMIT`."""
        checked_id(self.id, "inbound")
        checked_id(self.author, "author")
        if len(self.payload) > PAYLOAD_LIMIT:
            msg = (
                f"inbound {self.id}: payload of {len(self.payload)} bytes, {PAYLOAD_LIMIT} allowed"
            )
            raise Unacceptable(msg)


class StopRight(StrEnum):
    """Whose turn a stop phrase may end."""

    NONE = "none"
    #: A turn that its author takes part in.
    OWN = "own"
    #: Whatever turn runs: a moderator who addressed us, or an operator.
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Could:
    """What a message could be, before the stored turn decides what it is."""

    trigger: bool = False
    follow_up: bool = False
    stop: StopRight = StopRight.NONE
    #: Id of the author's inbound that this one continues (a long paste that the client split).
    joins: str | None = None


class Overflow(StrEnum):
    """What a full inbox does with one more inbound."""

    REFUSE = "refuse"
    DROP_OLDEST = "drop_oldest"


@dataclass(frozen=True, slots=True)
class Policy:
    """The bounds under which one inbound is admitted."""

    #: Inbounds that may wait in one conversation; the running turn's do not count.
    inbox: int = 20
    #: Of those, how many by one person.
    per_person: int = 3
    overflow: Overflow = Overflow.REFUSE
    #: How often in a row a turn may be superseded by its author before a follow-up has to wait.
    max_followups: int = 3
    #: A follow-up supersedes only a turn that has not posted a page yet.
    early_only: bool = False
    #: A trigger supersedes the current turn, whoever wrote either, without a limit.
    interrupt: bool = False
    #: A trigger is refused while a turn runs or anything waits.
    drop: bool = False
    #: When its turn comes, it and all that waits with this flag become one turn.
    gather: bool = False
    #: Seconds for which this inbound alone is held back; others of the conversation may overtake.
    not_before: float = 0.0
    #: Seconds since the newest waiting inbound for which a conversation without a turn stays
    #: quiet, …
    quiet: float = 0.0
    #: … but at most this many seconds since the oldest.
    quiet_most: float = 6.0

    def __post_init__(self) -> None:
        """Refuse bounds under which nothing could ever wait."""
        if min(self.inbox, self.per_person) < 1:
            raise Unacceptable(f"inbox {self.inbox}, per person {self.per_person}: at least 1 each")


@dataclass(frozen=True, slots=True)
class Claim:
    """
    What a caller asks for together with a lease.

    The lease's random part is the operation id of the call that carries the claim.
    """

    #: Life of the lease in seconds from the moment the store grants it.
    seconds: float
    #: Seconds after which a waiting inbound is dropped instead of started.
    expire_after: float = 86_400.0
    #: Name of the process, shown to operators.
    by: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to speak in one conversation until it expires."""

    conversation: Conversation
    #: Id of the turn, which is the id of the inbound that made it.
    turn: str
    #: `<number>-<operation id>`: the number strictly grows per partition, the whole is compared.
    token: str
    #: Milliseconds of the store's clock; to be shown, not to be compared with a local clock.
    expires: int


class SignalKind(StrEnum):
    """A request to the holder of a turn. Later members beat earlier ones."""

    SUPERSEDE = "supersede"
    STOP = "stop"
    KILL = "kill"

    def beats(self, other: "SignalKind | None") -> bool:
        """Whether this request replaces *other*, already pending on the same turn."""
        order = list(SignalKind)
        return other is None or order.index(self) > order.index(other)


@dataclass(frozen=True, slots=True)
class Signal:
    """A request for exactly one turn; also the hint that is published about it."""

    conversation: Conversation
    turn: str
    kind: SignalKind
    #: Author id of who asked.
    by: str


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded effect of a turn."""

    name: str
    key: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """One Discord message of a reply: its intent before the request, its id after it."""

    number: int
    #: The number of a deliberate re-send of this page.
    issue: int
    intent: bytes
    message_id: str | None = None


class Outcome(StrEnum):
    """What became of an inbound."""

    ANSWERED = "answered"
    SUPERSEDED = "superseded"
    STOPPED = "stopped"
    KILLED = "killed"
    WITHDRAWN = "withdrawn"
    DROPPED = "dropped"
    EXPIRED = "expired"
    DEAD = "dead-lettered"


class CatchUp(StrEnum):
    """What a recurring timer does about occurrences that nobody was there for."""

    #: One inbound for all that were missed.
    LATEST = "latest"
    #: An inbound for each, at most `state.ports.CATCH_UP_LIMIT`.
    EACH = "each"


#: Characters of a timer's id. Relation: `@<generation>.<occurrence>` is put behind it, and both
#: together are an inbound's id, of at most 128.
TIMER_ID_LIMIT = 96


@dataclass(frozen=True, slots=True)
class Timer:
    """
    An inbound to be admitted later.

    When it fires, *inbound* enters the inbox with the id `<id>@<generation>.<occurrence>`, beyond
    depth and share, so that it is never refused.
    """

    #: Unique within its conversation; setting it again replaces it, with a new generation.
    id: str
    inbound: Inbound
    #: Seconds from now until it fires first.
    delay: float
    #: Seconds between occurrences; None fires once. The cadence counts from the first time and
    #: never drifts, however late an occurrence is taken up.
    every: float | None = None
    catch_up: CatchUp = CatchUp.LATEST

    def __post_init__(self) -> None:
        """Refuse ids that some store could not hold, and a cadence that would never let go."""
        checked_id(self.id, "timer")
        if len(self.id) > TIMER_ID_LIMIT:
            raise Unacceptable(f"timer {self.id}: at most {TIMER_ID_LIMIT} characters are allowed")
        if self.every is not None and self.every < SHORTEST_CADENCE:
            raise Unacceptable(
                f"timer {self.id}: every {self.every} s, at least {SHORTEST_CADENCE} s is allowed"
            )


@dataclass(frozen=True, slots=True)
class Changes:
    """What one commit writes besides acknowledging the turn's inbounds."""

    outcome: Outcome = Outcome.ANSWERED
    #: None leaves the stored state as it is; to clear it, commit `b""`-like content of your own.
    state: bytes | None = None
    state_version: int = 0
    #: Appended to the transcript in this order.
    transcript: tuple[bytes, ...] = ()
    #: Author of each entry of *transcript*, "" for ours; shorter means ours. For `forget`.
    authors: tuple[str, ...] = ()
    #: The transcript is cut to its newest *keep* entries.
    keep: int = 200
    #: The steps this run asked for, as (name, key); None skips the check for drift.
    asked: frozenset[tuple[str, str]] | None = None
    #: Timers to set, their delays counted from the commit.
    timers: tuple[Timer, ...] = ()
    #: Ids of timers to remove.
    unschedule: tuple[str, ...] = ()
    #: Keys of this conversation's owner to write.
    puts: tuple[Put, ...] = ()
    #: Kept for every inbound of the turn for `state.ports.ANSWER_WINDOW`; the first one stands.
    answer: bytes | None = None
    #: Added to the owner's usage of the store's day (UTC): name → amount.
    usage: Mapping[str, int] = field(default_factory=dict)
