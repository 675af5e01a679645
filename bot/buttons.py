"""The buttons under replies: all they do is in their ids, so that they survive a restart."""

from dataclasses import dataclass
from enum import StrEnum

from bot import texts
from bot.speaking import Button

_PREFIX = "interlock"


class Act(StrEnum):
    """What a press asks for."""

    STOP = "stop"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Press:
    """What a button's id says."""

    act: Act
    #: Id of the turn whose reply the button is under.
    turn: str


def stop_button(turn: str) -> Button:
    """Make the button that stops *turn*."""
    return Button(texts.STOP_BUTTON, f"{_PREFIX}:{Act.STOP}:{turn}")


def retry_button(turn: str) -> Button:
    """Make the button that tries *turn* again after it was given up."""
    return Button(texts.RETRY_BUTTON, f"{_PREFIX}:{Act.RETRY}:{turn}")


def read(custom_id: str) -> Press | None:
    """Read a button's id; None if it is none of ours. It may be forged: check rights."""
    prefix, _, rest = custom_id.partition(":")
    act, _, turn = rest.partition(":")
    if prefix != _PREFIX or act not in set(Act) or not turn:
        return None
    return Press(Act(act), turn)
