"""How the suite gets its databases: one for each test, with as many handles on it as it wants."""

import os
import secrets
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from state import State, connect
from state.contract.faults import Faults, MemoryFaults
from state.contract.redis_faults import RedisFaults
from state.contract.sqlite_faults import FileFaults
from state.memory import Database, MemoryState


class Clock:
    """
    The store's clock in a test: it stands still until the test moves it.

    Keep to multiples of 1/8 s, which floats hold exactly, so that every adapter rounds alike.
    """

    def __init__(self) -> None:
        """Start at a whole second near the present, where an expiry of the store's own is sane."""
        self._seconds = float(int(time.time()))

    def __call__(self) -> float:
        """Tell the time in seconds."""
        return self._seconds

    def milliseconds(self) -> int:
        """Tell the time as `Lease.expires` does."""
        return int(self._seconds * 1000)

    def move(self, seconds: float) -> None:
        """Let *seconds* pass; a negative number sets the clock back."""
        self._seconds += seconds


class StateFactory(Protocol):
    """
    One throw-away database, made for one test.

    It may have an attribute `faults` beside these methods; see `state.contract.faults`.
    """

    def make(self, clock: Callable[[], float]) -> State:
        """Return one more handle on it, not opened yet, for which *clock* tells the time."""
        ...

    async def clean(self) -> None:
        """Remove the database; the test has closed every handle."""
        ...


class MemoryFactory:
    """A database in memory."""

    def __init__(self) -> None:
        """Start empty."""
        self._database = Database()
        self.faults = MemoryFaults(self._database)

    def make(self, clock: Callable[[], float]) -> State:
        """Return one more handle."""
        return MemoryState(self._database, self.faults.clock(clock))

    async def clean(self) -> None:
        """Leave the rest to the garbage collector."""


class FileFactory:
    """An SQLite database of its own beside the file that a `sqlite:` address names."""

    def __init__(self, url: str) -> None:
        """Choose a file name that is not taken."""
        self._path = Path(url.partition(":")[2].removeprefix("//") + f".{secrets.token_hex(8)}")
        self._handles: list[State] = []
        self.faults: Faults = FileFaults(self._path, self._handles)

    def make(self, clock: Callable[[], float]) -> State:
        """Return one more handle on the file."""
        self._handles.append(connect(f"sqlite:{self._path}", clock=clock))
        return self._handles[-1]

    async def clean(self) -> None:
        """Delete the file and what SQLite keeps beside it."""
        for file in self._path.parent.glob(f"{self._path.name}*"):
            file.unlink()


class PrefixFactory:
    """A key prefix of its own on a server. The keys stay: give a server that may be flushed."""

    def __init__(self, url: str, prefix: str | None = None) -> None:
        """Choose a prefix that is not taken, unless *prefix* is given."""
        self._url, self._prefix = url, prefix or f"contract-{secrets.token_hex(8)}"
        self.faults: Faults = RedisFaults(url, self._prefix)

    def make(self, clock: Callable[[], float]) -> State:
        """Return one more handle under the prefix."""
        return connect(self._url, prefix=self._prefix, clock=clock)

    async def clean(self) -> None:
        """Do nothing: the port has no step that empties a whole store, and should not."""


def named_factory() -> StateFactory:
    """Make what STATE_FACTORY (`module:callable`) or STATE_URL names, else a database in memory."""
    if named := os.environ.get("STATE_FACTORY"):
        module, _, name = named.partition(":")
        return cast("StateFactory", getattr(import_module(module), name)())
    url = os.environ.get("STATE_URL", "memory:")
    match url.partition(":")[0]:
        case "memory":
            return MemoryFactory()
        case "sqlite":
            return FileFactory(url)
        case _:
            return PrefixFactory(url)
