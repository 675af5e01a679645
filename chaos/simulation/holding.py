"""One turn held by a simulated process."""

from bot.endings import BY_SIGNAL, Ending
from state.outcomes import Started
from state.values import Lease

#: Seconds before a lease's end at which its holder falls silent. Relation: a fifth of a lease.
MARGIN = 1.0


class Holding:
    """Until when a turn may speak, and why it should end."""

    __slots__ = ("deadline", "lease", "reason", "started")

    def __init__(self, started: Started, asked: float, seconds: float) -> None:
        """*asked* is the local time from before the lease was asked for."""
        self.started = started
        self.lease: Lease = started.lease
        self.reason: Ending | None = None
        self.prolong(asked, seconds)
        if started.signal is not None:
            self.cancel(BY_SIGNAL[started.signal])

    def prolong(self, asked: float, seconds: float) -> None:
        """Count the lease's life from *asked*."""
        self.deadline = asked + seconds - MARGIN

    def cancel(self, reason: Ending) -> None:
        """Ask the turn to end; a weaker reason than the present one changes nothing."""
        if reason.beats(self.reason):
            self.reason = reason


class Ended(Exception):
    """The turn was asked to end, which cuts what it was doing."""
