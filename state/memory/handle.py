"""A handle on a database in memory, and what all steps share: clock, tokens, answers, sweeps."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from state.errors import Gone, LeaseLost, StateUnavailable
from state.keys import Author, Owner, Scope
from state.memory import unreadable
from state.memory.records import Record, Turn
from state.outcomes import (
    ShardLease,
)
from state.partition import DEFAULT_PARTITIONS, partition_of
from state.ports import ANSWER_WINDOW, OP_WINDOW, SEEN_WINDOW
from state.values import (
    Conversation,
    Lease,
    Signal,
)

Answer = TypeVar("Answer")
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(slots=True)
class Kept:
    """A value, list or counter, and when it is gone (µs)."""

    value: bytes | list[bytes] | int
    until: int | None


class Database:
    """What several handles share, as several connections share one file."""

    def __init__(self, partitions: int = DEFAULT_PARTITIONS) -> None:
        """Start empty, with a number of partitions that never changes."""
        self.partitions = partitions
        self.records: dict[Conversation, Record] = {}
        self.counters = [0] * partitions
        #: (conversation, inbound id) → when it was admitted; oldest first.
        self.seen: dict[tuple[Conversation, str], int] = {}
        #: (conversation, operation id) → when, and the first answer; oldest first.
        self.answers: dict[tuple[Conversation, str], tuple[int, object]] = {}
        self.listeners: set[asyncio.Queue[Signal]] = set()
        self.keys: dict[tuple[Scope, str], Kept] = {}
        #: (owner, UTC day) → name → amount.
        self.usage: dict[tuple[str, str], Counter[str]] = {}
        #: What is being forgotten just now.
        self.tombstones: set[Owner | Conversation | Author] = set()
        self.shards: dict[str, ShardLease] = {}
        #: Handle → how far it came with its renewals, and when (µs); oldest first.
        self.beats: dict[str, tuple[int, int]] = {}
        #: Identify bucket → when the next is granted (µs).
        self.gates: dict[int, int] = {}


class Handle:
    """A handle on a `Database`. *clock* answers seconds; tests move it."""

    def __init__(
        self, database: Database | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """Take a database to share with other handles, or make one."""
        self._db = database or Database()
        self._clock = clock
        self._open = False

    @property
    def partitions(self) -> int:
        """The number of partitions, fixed when the database was created."""
        return self._db.partitions

    @property
    def notices(self) -> tuple[str, ...]:
        """What an operator should know: all of it is gone when the process is."""
        return ("The state is kept in memory: nothing of it outlives this process.",)

    async def open(self) -> None:
        """Be ready for every step."""
        self._open = True

    async def close(self) -> None:
        """Refuse every later step; the database lives on in other handles."""
        self._open = False

    async def ping(self) -> None:
        """Return when open."""
        self._now()

    # --- what the steps share -------------------------------------------------------------------

    def _now(self) -> int:
        """Microseconds of the store's clock; also where a closed handle is refused."""
        if not self._open:
            msg = "the state is not open: await state.open() first"
            raise StateUnavailable(msg)
        return int(self._clock() * 1e6)

    def _partition(self, conversation: Conversation) -> int:
        return partition_of(conversation.owner, self._db.partitions)

    def _number(self, record: Record) -> int:
        """Draw the partition's next number, clock-seeded so that a restored copy cannot repeat."""
        partition = self._partition(record.conversation)
        number = max(self._db.counters[partition] + 1, int(self._clock() * 1e6))
        self._db.counters[partition] = number
        return number

    def _record(self, conversation: Conversation) -> Record:
        self._not_gone(conversation, Owner(conversation.owner))
        found = self._find(conversation)
        return found or self._db.records.setdefault(conversation, Record(conversation))

    def _find(self, conversation: Conversation) -> Record | None:
        """Return the record of a conversation, readable from front to end."""
        found = self._db.records.get(conversation)
        if found is not None:
            self._set_aside(found)
        return found

    def _all(self) -> list[Record]:
        """Return all records, readable from front to end."""
        for record in self._db.records.values():
            self._set_aside(record)
        return list(self._db.records.values())

    def _set_aside(self, record: Record) -> None:
        """Make dead letters of what no step could read."""
        unreadable.set_aside(record, self._now())

    def _not_gone(self, *targets: Owner | Conversation | Author) -> None:
        """Refuse a step that is addressed to what is being forgotten."""
        for target in targets:
            if target in self._db.tombstones:
                raise Gone(f"{target} is being forgotten; try again in a moment")

    def _holding(self, lease: Lease) -> tuple[Record, Turn]:
        """The record and turn of a living lease; `LeaseLost` for any other."""
        record = self._living(lease)
        if record.turn is None:
            raise LeaseLost(f"conversation {lease.conversation.id}: the lease holds no turn")
        return record, record.turn

    def _living(self, lease: Lease) -> Record:
        """The record of a living lease, with a turn or without."""
        now = self._now()
        self._not_gone(lease.conversation, Owner(lease.conversation.owner))
        record = self._find(lease.conversation)
        if record is None or record.living(now) != lease.token:
            msg = f"conversation {lease.conversation.id}: the lease {lease.token} does not hold"
            raise LeaseLost(msg)
        return record

    def _first_answer(self, conversation: Conversation, op: str) -> Any:  # noqa: ANN401 (each step names the type of its own answers)
        """The answer this operation got before, within `OP_WINDOW`."""
        now = self._now()
        forget(self._db.answers, lambda value: value[0] < now - int(OP_WINDOW * 1e6))
        found = self._db.answers.get((conversation, op))
        return found[1] if found else None

    def _answer(self, conversation: Conversation, op: str, answer: Answer) -> Answer:
        self._db.answers[conversation, op] = (self._now(), answer)
        return answer

    def _sweep(self, record: Record) -> None:
        """Leave nothing behind of an idle conversation, and of ids beyond their window."""
        now = self._now()
        forget(record.given, lambda given: given[0] < now - int(ANSWER_WINDOW * 1e6))
        if record.idle():
            self._db.records.pop(record.conversation, None)
        horizon = now - int(SEEN_WINDOW * 1e6)
        forget(self._db.seen, lambda at: at < horizon)

    def _publish(self, record: Record) -> None:
        if record.turn is not None and record.turn.signal is not None:
            for queue in self._db.listeners:
                queue.put_nowait(record.turn.signal)


def forget(window: dict[Key, Value], too_old: Callable[[Value], bool]) -> None:
    """Drop the oldest entries of an insertion-ordered dict while they are too old."""
    for key in list(takewhile(lambda key: too_old(window[key]), window)):
        del window[key]
