"""
Everything that `state` raises.

    StateError
    ├── StateUnavailable   the store did not answer; nothing is known about the outcome
    │   └── Unreadable     a record could neither be read nor set aside
    ├── StateInvalid       the store answers and must not be used: its schema, its owner, its URL
    ├── LeaseLost          the lease does not hold (any more); nothing was changed
    ├── Gone               the owner, conversation or author is being forgotten
    └── Unacceptable       a value breaks a stated limit; nothing was changed

Outcomes that a caller must expect in ordinary work are values (`state.values`), never exceptions.
"""


class StateError(Exception):
    """Root of the errors of this package."""


class StateUnavailable(StateError):
    """
    Raised when the store could not be asked or did not answer in time.

    A timeout never means "did not happen": repeat the call with the same operation id, or
    treat its lease as lost.
    """


class Unreadable(StateUnavailable):
    """Raised when a stored record cannot be read and could not be set aside either."""


class StateInvalid(StateError):
    """Raised by `open` when the store can be reached and must not be used; the text says why."""


class LeaseLost(StateError):
    """Raised when a step presents a token that is not the living one. Nothing was changed."""


class Gone(StateError):
    """Raised while a forget runs over the addressed conversation, owner or author."""


class Unacceptable(StateError):
    """Raised when an id or a payload breaks a stated limit. Nothing was changed."""
