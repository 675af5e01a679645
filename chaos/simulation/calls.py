"""What a simulated process asks of the outside; whoever drives it decides what happens then."""

from collections.abc import Generator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class To(Enum):
    """Whom a call is addressed to."""

    #: The store: a step of the port.
    STATE = auto()
    #: The chat service: a method of `Discord`.
    DISCORD = auto()
    #: Nobody; the caller goes on after so many seconds.
    SLEEP = auto()
    #: The process itself, which dies of it.
    DEATH = auto()


@dataclass(slots=True, eq=False)
class Call:
    """One call. Awaiting it hands it to the driver, which sends the answer or throws the error."""

    to: To
    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __await__(self) -> Generator["Call", Any, Any]:
        """Wait for the driver."""
        return (yield self)


def sleep(seconds: float) -> Call:
    """Let *seconds* pass."""
    return Call(To.SLEEP, "sleep", (seconds,))


class Unreachable(Exception):
    """The chat service did not answer: nothing is known about the outcome."""
