"""The faults that may strike a call."""

from enum import Enum, auto


class Strike(Enum):
    """What happens to a call and to the process that makes it."""

    #: The process is killed before the call was sent, or after it was carried out.
    DIES_BEFORE = auto()
    DIES_AFTER = auto()
    #: The caller learns nothing: the call never arrived, or its answer was lost, or it will be
    #: carried out later.
    NEVER_ARRIVES = auto()
    ANSWER_LOST = auto()
    ARRIVES_LATE = auto()
    #: The process stands still, before the call is carried out or before it sees the answer.
    FREEZES_BEFORE = auto()
    FREEZES_AFTER = auto()


STRIKES = tuple(Strike)
