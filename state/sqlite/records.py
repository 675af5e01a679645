"""
A conversation's row, and the transaction in which a step loads it, changes it and stores it.

A step is a function of an open transaction. It refuses before its first write, so that a refused
step changed nothing and needs no savepoint among the others of its transaction.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from state.errors import LeaseLost
from state.partition import partition_of
from state.ports import OP_WINDOW, SEEN_WINDOW
from state.sqlite import codec
from state.values import Conversation, Inbound, Lease, Signal, SignalKind

_LOAD = """
SELECT id, token, expires, wake, backing_off, turn, lead, admitted, begun,
       attempts, followups, expiries, signal, signal_by, detached, waiting, stateful, kept, dead,
       entries, subscribed
FROM conversation WHERE key = ?
"""
_INSERT = """
INSERT INTO conversation
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE = """
UPDATE conversation
SET token = ?, expires = ?, wake = ?, backing_off = ?, turn = ?, lead = ?, admitted = ?, begun = ?,
    attempts = ?, followups = ?, expiries = ?, signal = ?, signal_by = ?, detached = ?,
    waiting = ?, stateful = ?, kept = ?, dead = ?, entries = ?, subscribed = ?
WHERE id = ?
"""

#: The windows in microseconds, as the store's clock counts.
_OP_WINDOW = int(OP_WINDOW * 1e6)
_SEEN_WINDOW = int(SEEN_WINDOW * 1e6)


@dataclass(slots=True)
class Record:
    """One row of `conversation`; the migrations say what each column means."""

    conversation: Conversation
    id: int
    token: str | None = None
    expires: int = 0
    wake: int | None = None
    backing_off: int = 0
    turn: str | None = None
    lead: str = ""
    admitted: int = 0
    begun: int = 0
    attempts: int = 0
    followups: int = 0
    expiries: int = 0
    signal: str | None = None
    signal_by: str | None = None
    detached: int = 0
    waiting: int = 0
    stateful: int = 0
    kept: int = 0
    dead: int = 0
    entries: int = 0
    subscribed: int = 0
    #: Whether the file has a row of it.
    stored: bool = True
    #: An inbound that was admitted in this step and has no row yet: it mostly starts at once.
    arriving: Inbound | None = None

    @property
    def pending(self) -> SignalKind | None:
        """The request that waits for the turn."""
        return None if self.signal is None else SignalKind(self.signal)

    def held(self, now: int) -> bool:
        """Whether somebody holds a living lease."""
        return self.token is not None and self.expires > now

    def idle(self) -> bool:
        """Whether nothing at all is left worth keeping."""
        nothing_pending = self.turn is None and not self.waiting
        nothing_kept = not (self.stateful or self.kept or self.dead)
        return nothing_pending and nothing_kept and not self.subscribed

    def columns(self) -> tuple[Any, ...]:
        """Everything that a step may change, in the order of the table."""
        return (
            *(self.token, self.expires, self.wake, self.backing_off, self.turn, self.lead),
            *(self.admitted, self.begun, self.attempts, self.followups, self.expiries),
            *(self.signal, self.signal_by, self.detached, self.waiting, self.stateful, self.kept),
            *(self.dead, self.entries, self.subscribed),
        )


@dataclass(slots=True)
class Transaction:
    """An open transaction, with what its steps share."""

    execute: Callable[..., sqlite3.Cursor]
    #: Microseconds of the store's clock, read once the transaction holds the write lock.
    now: int
    partitions: int
    #: To be published once the transaction is on disk.
    signals: list[Signal] = field(default_factory=list)
    #: The last number given out in each partition that this transaction drew from.
    _numbers: dict[int, int] = field(default_factory=dict)
    _last_id: int | None = None

    # --- conversations --------------------------------------------------------------------------

    def find(self, conversation: Conversation) -> Record | None:
        """Load a conversation's row, if it has one."""
        found = self.execute(_LOAD, (key_of(conversation),)).fetchone()
        return None if found is None else Record(conversation, *found)

    def load(self, conversation: Conversation) -> Record:
        """Load a conversation's row, or make one that `store` would insert."""
        found = self.find(conversation)
        return found or Record(conversation, self._new_id(), stored=False)

    def holding(self, lease: Lease) -> Record:
        """Load the row of a living lease; `LeaseLost` for any other."""
        record = self.find(lease.conversation)
        if (
            record is None
            or record.turn is None
            or not record.held(self.now)
            or record.token != lease.token
        ):
            msg = f"conversation {lease.conversation.id}: the lease {lease.token} does not hold"
            raise LeaseLost(msg)
        return record

    def store(self, record: Record) -> None:
        """Write a row back; an idle conversation leaves none."""
        if record.arriving is not None:
            self.insert_inbound(record, record.arriving, None)
        if record.idle():
            if record.stored:
                self.execute("DELETE FROM conversation WHERE id = ?", (record.id,))
        elif record.stored:
            self.execute(_UPDATE, (*record.columns(), record.id))
        else:
            conversation = record.conversation
            partition = self._partition(conversation)
            self.execute(_INSERT, (record.id, key_of(conversation), partition, *record.columns()))

    def insert_inbound(self, record: Record, inbound: Inbound, part: int | None) -> None:
        """Give the inbound that arrived its row: waiting (None), or what made the turn (0)."""
        self.execute(
            "INSERT INTO inbound (conversation, part, name, author, payload, at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (record.id, part, inbound.id, inbound.author, inbound.payload, self.now),
        )
        record.arriving = None

    def _partition(self, conversation: Conversation) -> int:
        return partition_of(conversation.owner, self.partitions)

    def _new_id(self) -> int:
        """Number a new row before it is inserted, so that rows of it can be written first."""
        last = self._last_id
        if last is None:
            (last,) = self.execute("SELECT coalesce(max(id), 0) FROM conversation").fetchone()
        self._last_id = last + 1
        return last + 1

    def number(self, conversation: Conversation) -> int:
        """Draw the partition's next number, clock-seeded so that a restored copy cannot repeat."""
        partition = self._partition(conversation)
        last = self._numbers.get(partition)
        if last is None:
            (last,) = self.execute(
                "SELECT number FROM counter WHERE partition = ?", (partition,)
            ).fetchone()
        number = self._numbers[partition] = max(last + 1, self.now)
        return number

    def finish(self, rows: int) -> None:
        """Write the counters that moved, and `purge` at most *rows* of each kind."""
        for partition, number in self._numbers.items():
            self.execute("UPDATE counter SET number = ? WHERE partition = ?", (number, partition))
        self.purge(rows)

    def publish(self, record: Record) -> None:
        """Hint at the request that waits for the turn, once it is on disk."""
        if record.turn is not None and record.signal is not None:
            kind, by = SignalKind(record.signal), record.signal_by or ""
            self.signals.append(Signal(record.conversation, record.turn, kind, by))

    # --- operations and seen ids ----------------------------------------------------------------

    def first_answer(
        self, conversation: Conversation, op: str, inbound: Inbound | None = None
    ) -> Any:  # noqa: ANN401 (each step names the type of its own answers)
        """The answer this operation got before, within `OP_WINDOW`; None if it is new."""
        found = self.execute(
            "SELECT answer FROM operation WHERE op = ? AND conversation = ? AND at >= ?",
            (op, key_of(conversation), self.now - _OP_WINDOW),
        ).fetchone()
        return None if found is None else codec.decode(found[0], (conversation, inbound))

    def remember(
        self, conversation: Conversation, op: str, answer: object, inbound: Inbound | None = None
    ) -> None:
        """Keep the answer of an operation for its repeats."""
        self.execute(
            "INSERT OR REPLACE INTO operation (op, conversation, at, answer) VALUES (?, ?, ?, ?)",
            (
                op,
                key_of(conversation),
                self.now,
                codec.encode(answer, (conversation, inbound)),
            ),
        )

    def mark_seen(self, conversation: Conversation, inbound: str) -> bool:
        """Mark an inbound id; answer whether it was new within `SEEN_WINDOW`."""
        horizon = self.now - _SEEN_WINDOW
        marked = self.execute(
            "INSERT INTO seen VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET at = excluded.at WHERE at < ?",
            (inbound, key_of(conversation), self.now, horizon),
        )
        return marked.rowcount == 1

    def purge(self, rows: int) -> None:
        """Drop at most *rows* each of the answers and seen ids that are beyond their windows."""
        self.execute(
            "DELETE FROM operation WHERE at < ? AND id IN "
            "(SELECT id FROM operation ORDER BY id LIMIT ?)",
            (self.now - _OP_WINDOW, rows),
        )
        self.execute(
            "DELETE FROM seen WHERE (inbound, conversation) IN "
            "(SELECT inbound, conversation FROM seen WHERE at < ? ORDER BY at LIMIT ?)",
            (self.now - _SEEN_WINDOW, rows),
        )


def key_of(conversation: Conversation) -> str:
    """Return the key under which a conversation's rows are filed."""
    return f"{conversation.owner} {conversation.id}"


def conversation_of(key: str) -> Conversation:
    """Return the conversation that `key_of` was given."""
    owner, _, name = key.partition(" ")
    return Conversation(owner, name)
