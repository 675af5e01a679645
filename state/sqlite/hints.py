"""
Hints about signals: at once among the handles of one process, by looking among processes.

A hint may be lost or repeated; `renew` and `due` tell the same later.
"""

import asyncio
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from state.values import Signal

Listener = tuple[asyncio.AbstractEventLoop, asyncio.Queue[Signal]]

#: Signals of which a repeat is suppressed, about; beyond, a hint may be told twice.
KNOWN = 1000


class Channel:
    """What the handles of one process on one file tell each other."""

    def __init__(self) -> None:
        """Start without listeners."""
        self._listeners: set[Listener] = set()
        self._known: frozenset[Signal] = frozenset()
        self._lock = threading.Lock()

    @property
    def heard(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def publish(self, signals: Iterable[Signal]) -> None:
        """Tell every listener about *signals*, from any thread."""
        with self._lock:
            new = frozenset(signals)
            # Only a look at the file forgets those that are over, and a lone process never looks.
            self._known = new | (self._known if len(self._known) < KNOWN else frozenset())
            self._tell(new)

    def observe(self, signals: Iterable[Signal]) -> None:
        """Tell every listener about those of the unfinished *signals* that it has not heard of."""
        with self._lock:
            found = frozenset(signals)
            self._tell(found - self._known)
            self._known = found

    def _tell(self, signals: Iterable[Signal]) -> None:
        for signal in signals:
            for loop, queue in self._listeners:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(queue.put_nowait, signal)

    @contextmanager
    def listener(self) -> Iterator[asyncio.Queue[Signal]]:
        """Give a queue that signals are put in until the block ends."""
        queue: asyncio.Queue[Signal] = asyncio.Queue()
        listener = (asyncio.get_running_loop(), queue)
        with self._lock:
            self._listeners.add(listener)
        try:
            yield queue
        finally:
            with self._lock:
                self._listeners.discard(listener)


_channels: WeakValueDictionary[str, Channel] = WeakValueDictionary()


def channel_of(path: str) -> Channel:
    """Return the channel of a file, one for all handles of this process."""
    if path == ":memory:":
        return Channel()
    return _channels.setdefault(os.path.realpath(path), Channel())
