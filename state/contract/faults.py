"""
What happens to stores: they stop, fill up, are emptied, go back in time.

The port gives no such power, so a factory may offer it: an attribute `faults` with those of the
methods below that it can do, best as a subclass of `Faults`. A test that needs another is skipped.
"""

from collections.abc import Callable
from copy import deepcopy
from enum import Enum
from typing import Any, NoReturn

import pytest

from state.errors import StateUnavailable
from state.memory import Database
from state.values import Conversation


class Poison(Enum):
    """Which record of a conversation."""

    #: The first message that waits.
    WAITING = "waiting"
    #: The turn that was started.
    TURN = "turn"
    #: The only timer.
    TIMER = "timer"


#: What nobody wrote: neither text nor any version of a format.
FOREIGN = b"\xff\x00 not ours \xfe"


class Faults:
    """Power over one throw-away database; each method skips its test until it is overridden."""

    async def stop(self) -> None:
        """Let it answer no step that changes something, until `start`."""
        cannot("stop and start")

    async def start(self) -> None:
        """Let it answer again."""
        cannot("stop and start")

    async def fill(self) -> None:
        """Leave no room for anything more, until `make_room`."""
        cannot("fill and make_room")

    async def make_room(self) -> None:
        """Let it take more again."""
        cannot("fill and make_room")

    async def copy(self) -> None:
        """Make a backup of it as it is now."""
        cannot("copy and restore")

    async def restore(self) -> None:
        """Put the backup in its place, under handles that go on."""
        cannot("copy and restore")

    async def flush(self) -> None:
        """Remove everything that is in it, under handles that go on."""
        cannot("flush")

    async def poison(self, at: Conversation, what: Poison) -> None:
        """Overwrite one record of a conversation with what no version of the adapter wrote."""
        cannot("poison")

    async def newer(self) -> None:
        """Mark it as written by a version of the adapter that is yet to come."""
        cannot("newer")


def cannot(what: str) -> NoReturn:
    """Skip a test that needs what the factory does not offer."""
    pytest.skip(f"the factory's faults offer no {what}")


class MemoryFaults(Faults):
    """Faults of a database in memory, where nothing but a test brings them about."""

    def __init__(self, database: Database) -> None:
        """Take the database that the handles of the test share."""
        self._database = database
        self._away = False
        self._copy: dict[str, Any] = {}

    def clock(self, clock: Callable[[], float]) -> Callable[[], float]:
        """Return the clock that handles are to have: each step begins with a look at it."""

        def told() -> float:
            if self._away:
                raise StateUnavailable("the database in memory is away")
            return clock()

        return told

    async def stop(self) -> None:
        """See `Faults.stop`."""
        self._away = True

    async def start(self) -> None:
        """See `Faults.start`."""
        self._away = False

    async def fill(self) -> None:
        """See `Faults.fill`: what is taken in is marked as seen first of all."""
        self._database.seen = Full(self._database.seen)

    async def make_room(self) -> None:
        """See `Faults.make_room`."""
        self._database.seen = dict(self._database.seen)

    async def copy(self) -> None:
        """See `Faults.copy`."""
        self._copy = deepcopy(_content(self._database))

    async def restore(self) -> None:
        """See `Faults.restore`."""
        vars(self._database).update(deepcopy(self._copy))

    async def flush(self) -> None:
        """See `Faults.flush`."""
        vars(self._database).update(_content(Database(self._database.partitions)))

    async def poison(self, at: Conversation, what: Poison) -> None:
        """See `Faults.poison`."""
        record: Any = self._database.records[at]
        match what:
            case Poison.WAITING:
                record.inbox[0] = FOREIGN
            case Poison.TURN:
                record.turn = FOREIGN
            case Poison.TIMER:
                record.alarms = dict.fromkeys(record.alarms, FOREIGN)


class Full(dict[Any, Any]):
    """A dict without room."""

    def __setitem__(self, key: object, value: object) -> None:
        raise StateUnavailable("the database in memory is full")


def _content(database: Database) -> dict[str, Any]:
    return {name: value for name, value in vars(database).items() if name != "listeners"}
