"""
Everything that `bot` raises on purpose.

    InterlockError
    ├── StartupFailed          this process must not start; one line says why and what to do
    │   ├── ConfigInvalid      the settings are wrong; one line for each problem
    │   ├── ExtensionFailed    an extension cannot be imported or set up
    │   ├── ResponderInvalid   the configured responder is not there or is no async generator
    │   ├── TokenRefused       Discord does not accept the token
    │   └── IntentMissing      Discord does not grant an intent that the settings need
    ├── RetryLater             a responder asks for its turn to be tried again
    ├── TurnNotStarted         a command of an author asks for a turn that cannot be begun
    ├── PieceInvalid           a responder yields what cannot be part of a reply
    ├── Silenced               a turn was not run, since Discord refused us there lately
    ├── StateUnreadable        a conversation's state is of a version that its cog does not read
    ├── AttachmentUnreadable   a file of a message cannot be had: too large, gone, too slow
    ├── TurnTimedOut           a turn exceeded one of its limits
    └── PayloadUnreadable      the store holds something that this build cannot read

How a turn ended is a value, not an exception. What the store raises is drawn in `state.errors`.
"""

from collections.abc import Sequence


class InterlockError(Exception):
    """Root of the errors of this package."""


class StartupFailed(InterlockError):
    """
    Raised before anything has been started, when starting makes no sense.

    The text is one line for a person at a terminal: what is wrong, what to do. It never holds a
    secret. The command line prints it and exits with 2.
    """

    @property
    def lines(self) -> tuple[str, ...]:
        """What to print, one problem a line."""
        return (str(self),)


class ConfigInvalid(StartupFailed):
    """Raised when the settings are wrong: all problems at once, so that one edit mends them."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Take one line for each problem, in the order in which to read them."""
        super().__init__("\n".join(lines))
        self._lines = tuple(lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """Each naming the place, the key, what is wrong and what would be right."""
        return self._lines


class ExtensionFailed(StartupFailed):
    """Raised when an extension cannot be imported or its `setup` fails."""


class ResponderInvalid(StartupFailed):
    """Raised when no loaded cog has the configured name, or its `respond` yields nothing."""


class TokenRefused(StartupFailed):
    """Raised when Discord answers 401 to the token."""


class IntentMissing(StartupFailed):
    """Raised when Discord closes the gateway because an intent is switched off in its portal."""


class RetryLater(InterlockError):
    """
    Raised by a responder when the same turn may succeed a little later.

    Any other exception gives the turn up at once, because repeating a bug repeats its effects.
    """


class TurnNotStarted(InterlockError):
    """Raised to whoever calls `start_turn` with what no turn can be made of; one line says why."""


class PieceInvalid(InterlockError, ValueError):
    """Raised for a piece of a reply; the text is one line that says what would be right."""


class Silenced(InterlockError):
    """Raised instead of running a turn in a channel where we may not speak for now."""


class StateUnreadable(InterlockError):
    """Raised when a conversation's state is of a version that its responder does not read."""


class AttachmentUnreadable(InterlockError):
    """Raised when a file of a message cannot be had; the text names the file and why."""


class TurnTimedOut(InterlockError):
    """Raised inside a turn that exceeded one of `[limits]`; the text names the limit."""


class PayloadUnreadable(InterlockError):
    """Raised when a stored payload is damaged or was written by a newer build."""
