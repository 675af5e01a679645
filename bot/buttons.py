"""The ids of the buttons under replies, which tell what a press asks for, also after a restart."""

import re
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
    return Button(texts.here().stop_button, f"{_PREFIX}:{Act.STOP}:{turn}")


def retry_button(turn: str) -> Button:
    """Make the button that tries *turn* again after it was given up."""
    return Button(texts.here().retry_button, f"{_PREFIX}:{Act.RETRY}:{turn}")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the id of a responder's button says: where the store has what it means."""

    token: str
    #: Which of the buttons that were made together, from 0.
    number: int


_CHOICE = re.compile(rf"{_PREFIX}:choose:([A-Za-z0-9_-]{{22}}):([0-9]{{1,2}})")


def choice(token: str, number: int) -> str:
    """Make the id of a responder's button."""
    return f"{_PREFIX}:choose:{token}:{number}"


def read_choice(custom_id: str) -> Choice | None:
    """Read the id of a responder's button; None if it is none. It may be forged."""
    found = _CHOICE.fullmatch(custom_id)
    return Choice(found[1], int(found[2])) if found else None


def read(custom_id: str) -> Press | None:
    """Read a button's id; None if it is none of ours. It may be forged: check rights."""
    prefix, _, rest = custom_id.partition(":")
    act, _, turn = rest.partition(":")
    if prefix != _PREFIX or act not in set(Act) or not turn:
        return None
    return Press(Act(act), turn)
