"""Keep the bot's recent requests for tests and operators to read."""

from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import Any

KEPT = 10_000
"""Entries: more than three minutes at Discord's 50 requests a second."""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    Describe one request of the bot. `body` is what it sent, with files reduced to their names.

    `time` (seconds since 1970) and `monotonic` (of this process) are those of its arrival;
    `seconds` is how long the answer took. `status` is what was answered, or would have been when
    `lost`.
    """

    seq: int
    time: float
    monotonic: float
    seconds: float
    method: str
    path: str
    status: int
    body: Any
    lost: bool


class RequestLog:
    """Number requests from 1 in the order in which they were answered."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._numbers = count(1)

    def number(self) -> int:
        """Answer the next entry's number."""
        return next(self._numbers)

    def add(self, entry: Entry) -> None:
        """Append one entry."""
        self._entries.append(entry)

    def since(self, seq: int = 0) -> list[Entry]:
        """List the entries after `seq`, oldest first."""
        return [entry for entry in self._entries if entry.seq > seq]
