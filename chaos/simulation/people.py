"""What people do in a conversation, as the gateway tells it to one process or to several."""

from dataclasses import dataclass

from state.values import Conversation, Could, Inbound, Policy, StopRight, Timer


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody wrote a message."""

    conversation: Conversation
    inbound: Inbound
    could: Could
    policy: Policy

    @property
    def told_again(self) -> bool:
        """Whether it is made up for when nobody heard it; a stop that is late hits the wrong."""
        return self.could.stop is StopRight.NONE


@dataclass(frozen=True, slots=True)
class Pressed:
    """Somebody pressed the stop button under a reply."""

    conversation: Conversation
    op: str
    #: Known once it is pressed.
    turn: str = ""


@dataclass(frozen=True, slots=True)
class Killed:
    """An operator used the command: on all, or on one author's."""

    conversation: Conversation
    op: str
    author: str | None


@dataclass(frozen=True, slots=True)
class Deleted:
    """Somebody deleted a message."""

    conversation: Conversation
    op: str
    message: str


@dataclass(frozen=True, slots=True)
class Edited:
    """Somebody edited a message."""

    conversation: Conversation
    op: str
    message: str
    edited: Inbound


@dataclass(frozen=True, slots=True)
class Reminded:
    """Somebody asked to be reminded."""

    conversation: Conversation
    op: str
    timer: Timer


Event = Said | Pressed | Killed | Deleted | Edited | Reminded
