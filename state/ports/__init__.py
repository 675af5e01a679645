"""
The state port: steps, each one atomic change of one conversation.

Lock, inbox, journal, wake and transcript of a conversation move together or not at all. The
docstrings below are the contract; `state.contract` holds a test for each sentence, and
`state.memory` is the specification that runs.

Rules of every step:

* Every mutating step may be sent twice. Those that are not repeatable by nature take *op*, an
  operation id that the caller chose before the call (`[A-Za-z0-9_-]`, at least 96 random bits): for
  60 s a repeat gets the first answer and changes nothing. Callers stop repeating after 20 s.
* A step that takes a lease compares its whole token with the living one and raises `LeaseLost`
  when they differ or the lease has expired. A refused step has changed nothing.
* Tokens and order numbers come from one counter per partition, max(last + 1, the store's
  microseconds), so that they grow whatever was released, forgotten or restored.
* The only clock is the store's. Delays are passed, never points in time.
* Pending work implies a wake: no step leaves an inbound behind that `due` would not report.
* `StateUnavailable` tells nothing about the outcome, and is raised within 5 s, no call waits for
  longer; afterwards the handle goes on by itself. `Gone` is raised while a forget runs.
* A record that cannot be read (foreign bytes, an unknown version, another type) is set aside as a
  dead letter with the reason and the raw bytes, by the step that meets it, which then goes on
  without it: one that waits or a timer alone, a turn with all that it recorded.
* A store without room takes nothing new in. Leases are renewed and turns end all the same.
* A store that was emptied or set back refuses every holder that it does not know (any more). The
  next `renew` of a process that had renewed since notices, loses its leases and tells in `notices`.
"""

from typing import Protocol

from state.ports.keeping import Keeping
from state.ports.operating import Operating
from state.ports.reading import Reading
from state.ports.requests import Requests
from state.ports.sharding import Sharding
from state.ports.timing import Timing
from state.ports.turns import Turns

#: Expiries of a turn's lease without a new step in between, after which it is a dead letter.
MAX_EXPIRIES = 5

#: Seconds for which an operation id is answered with its first answer.
#: Relation: three times the 20 s after which clients stop repeating.
OP_WINDOW = 60.0

#: Seconds for which an inbound id is known: longer than any backfill (24 h) and its slack.
SEEN_WINDOW = 26 * 3600.0

#: Dead letters kept per conversation; the oldest is dropped.
DEAD_LETTER_LIMIT = 100

#: Seconds for which a committed answer can be read: longer than an interaction lives (15 min).
ANSWER_WINDOW = 3600.0

#: Seconds for which a store remembers how far a process came with its renewals.
#: Relation: far longer than any lease, so that who holds one has renewed within it.
BEAT_WINDOW = 3600.0

#: What an operator is told then.
WENT_BACK = (
    "The store went back in time (a restored copy, a failover, a flush): what it had acknowledged "
    "since may be lost, and turns that ran are begun again."
)

#: Days for which usage is kept, so that a year can be compared with the one before.
USAGE_DAYS = 400

#: Occurrences of one recurring timer that are made up for at once.
CATCH_UP_LIMIT = 100


class State(Turns, Requests, Reading, Timing, Keeping, Operating, Sharding, Protocol):
    """One store, shared by every process that serves the same application."""

    @property
    def partitions(self) -> int:
        """The number of partitions, fixed when the store was created."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """
        What an operator should know about this store, in sentences; known once it is open.

        Later ones, about what has happened to it since, are added at the end.
        """
        ...

    async def open(self) -> None:
        """
        Connect, create or check the schema, and be ready for every step.

        Idempotent; concurrent calls share one attempt; a failed one can be repeated. Raise
        `StateInvalid` when the store must not be used, `StateUnavailable` when it is not there.
        """
        ...

    async def close(self) -> None:
        """Give back every connection, task and file. A second call does nothing."""
        ...

    async def ping(self) -> None:
        """Return when the store answers, raise `StateUnavailable` when it does not."""
        ...
