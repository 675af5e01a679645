"""Pages of what is stored: timers and dead letters."""

from dataclasses import dataclass, field

from state.values import Conversation, Inbound, Timer


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A timer as it is stored."""

    conversation: Conversation
    timer: Timer
    generation: int
    #: Seconds until it fires next; negative when overdue.
    due_in: float


@dataclass(frozen=True, slots=True)
class Schedules:
    """One page of timers; *cursor* is None on the last."""

    timers: tuple[Scheduled, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """
    A turn that was given up, or a record that could not be read.

    The latter has no inbounds and cannot be requeued.
    """

    #: Unique within its conversation.
    id: str
    conversation: Conversation
    inbounds: tuple[Inbound, ...]
    error: str
    #: The conversation's state when it was given up.
    state: bytes | None
    #: What could not be read, as the store had it, cut to `PAYLOAD_LIMIT`; stores differ in that.
    raw: bytes | None = field(default=None, compare=False)
    #: Seconds since then; stores that share a clock may still round it differently.
    age: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """One page of dead letters, the oldest first; *cursor* is None on the last."""

    letters: tuple[DeadLetter, ...]
    cursor: str | None
