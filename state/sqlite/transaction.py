"""
An open transaction, and what the steps that run in it share.

A step is a function of an open transaction. It raises `LeaseLost` and `Gone` before its first
write, so that a refused step changed nothing and needs no savepoint among its neighbours.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from state.errors import Gone, LeaseLost
from state.keys import Author, Owner
from state.partition import partition_of
from state.ports import OP_WINDOW, SEEN_WINDOW
from state.sqlite import codec, records
from state.sqlite.records import Record
from state.values import Conversation, Inbound, Lease, Signal, SignalKind

#: The windows in microseconds, as the store's clock counts.
OP_MICROSECONDS = int(OP_WINDOW * 1e6)
SEEN_MICROSECONDS = int(SEEN_WINDOW * 1e6)

#: What can be forgotten.
Target = Owner | Conversation | Author


@dataclass(slots=True)
class Transaction:
    """An open transaction."""

    #: All statements run on one cursor: rows are fetched before the next one runs.
    execute: Callable[..., sqlite3.Cursor]
    executemany: Callable[..., sqlite3.Cursor]
    #: Microseconds of the store's clock, read once the transaction holds the write lock.
    now: int
    partitions: int
    #: To be published once the transaction is on disk.
    signals: list[Signal] = field(default_factory=list)
    #: Answers that are not written yet, by conversation's key and operation.
    _answers: dict[tuple[str, str], str] = field(default_factory=dict)
    #: The last number given out in each partition that this transaction drew from.
    _numbers: dict[int, int] = field(default_factory=dict)
    _tombstones: frozenset[Target] | None = None

    # --- conversations --------------------------------------------------------------------------

    def find(self, conversation: Conversation) -> Record | None:
        """Load a conversation's row, if it has one, to look at it."""
        key = key_of(conversation)
        found = self.execute(records.LOAD, (key,)).fetchone()
        return None if found is None else Record(conversation, key, *found)

    def load(self, conversation: Conversation) -> Record:
        """Load a conversation's row, or make one that `store` would insert; `Gone` if forgotten."""
        self.refuse_gone(conversation)
        found = self.find(conversation)
        return found or Record(conversation, key_of(conversation), stored=False)

    def living(self, lease: Lease) -> Record:
        """Load the row of a living lease, with a turn or without; `LeaseLost` for any other."""
        conversation = lease.conversation
        self.refuse_gone(conversation)
        record = self.find(conversation)
        if record is None or record.living(self.now) != lease.token:
            raise LeaseLost(
                f"conversation {conversation.id}: the lease {lease.token} does not hold"
            )
        return record

    def holding(self, lease: Lease) -> Record:
        """Load the row of a living lease on a turn; `LeaseLost` for any other."""
        record = self.living(lease)
        if record.turn is None:
            raise LeaseLost(f"conversation {lease.conversation.id}: the lease holds no turn")
        return record

    def turn_of(self, lease: Lease) -> tuple[str, int]:
        """
        Answer the key and the expiries of the turn that *lease* is on, else as `holding`.

        For the steps that only write to the journal, and need no more of the row.
        """
        self.refuse_gone(lease.conversation)
        key = key_of(lease.conversation)
        found = self.execute(
            "SELECT expiries FROM conversation "
            "WHERE key = ? AND token = ? AND expires > ? AND turn IS NOT NULL",
            (key, lease.token, self.now),
        ).fetchone()
        return key, self.holding(lease).expiries if found is None else found[0]

    def store(self, record: Record) -> None:
        """Write a row and the new entries of its inbox; an idle conversation leaves nothing."""
        for entry in record.inbox or ():
            if not entry.stored and entry.inbound is not None:
                self.insert_inbound(record, entry, entry.inbound, None)
        if record.idle():
            if record.stored:
                self.execute("DELETE FROM conversation WHERE key = ?", (record.key,))
        elif record.stored:
            self.execute(records.UPDATE, (*records.columns(record), record.key))
        else:
            partition = partition_of(record.conversation.owner, self.partitions)
            self.execute(records.INSERT, (record.key, partition, *records.columns(record)))

    def insert_inbound(
        self, record: Record, entry: records.Waiting, inbound: Inbound, part: int | None
    ) -> None:
        """Give a new entry of the inbox its row, in the inbox or already in the turn."""
        self.execute(
            "INSERT INTO inbound VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(record.key, entry.place, part, entry.name, entry.author, inbound.payload),
                *(entry.at, entry.after, entry.gather, entry.joins),
            ),
        )
        entry.stored = True

    def finish(self) -> None:
        """Write what all the steps gathered: their answers, and the counters that moved."""
        for partition, number in self._numbers.items():
            self.execute("UPDATE counter SET number = ? WHERE partition = ?", (number, partition))
        self.executemany(
            "INSERT OR REPLACE INTO operation VALUES (?, ?, ?, ?, ?)",
            [
                (self.now // OP_MICROSECONDS, key, op, self.now, answer)
                for (key, op), answer in self._answers.items()
            ],
        )

    # --- tokens and hints -----------------------------------------------------------------------

    def number(self, conversation: Conversation) -> int:
        """Draw the partition's next number, clock-seeded so that a restored copy cannot repeat."""
        partition = partition_of(conversation.owner, self.partitions)
        last = self._numbers.get(partition)
        if last is None:
            (last,) = self.execute(
                "SELECT number FROM counter WHERE partition = ?", (partition,)
            ).fetchone()
        number = self._numbers[partition] = max(last + 1, self.now)
        return number

    def publish(self, record: Record) -> None:
        """Hint at the request that waits for the turn, once it is on disk."""
        if record.turn is not None and record.signal is not None:
            kind, by = SignalKind(record.signal), record.signal_by or ""
            self.signals.append(Signal(record.conversation, record.turn, kind, by))

    # --- what was there before ------------------------------------------------------------------

    def first_answer(
        self, conversation: Conversation, op: str, inbound: Inbound | None = None
    ) -> Any:  # noqa: ANN401 (each step names the type of its own answers)
        """The answer this operation got before, within `OP_WINDOW`; None if it is new."""
        key, minute = key_of(conversation), self.now // OP_MICROSECONDS
        text = self._answers.get((key, op))
        if text is None:
            found = self.execute(
                "SELECT answer FROM operation "
                "WHERE minute IN (?, ?) AND conversation = ? AND op = ? AND at >= ?",
                (minute, minute - 1, key, op, self.now - OP_MICROSECONDS),
            ).fetchone()
            if found is None:
                return None
            (text,) = found
        return codec.decode(text, (conversation, inbound))

    def remember(
        self, conversation: Conversation, op: str, answer: object, inbound: Inbound | None = None
    ) -> None:
        """Keep the answer of an operation for its repeats."""
        text = codec.encode(answer, (conversation, inbound))
        self._answers[key_of(conversation), op] = text

    def forget_answers(self, lowest: str, beyond: str) -> None:
        """Drop the answers of a range of conversations' keys."""
        for key, op in [each for each in self._answers if lowest <= each[0] < beyond]:
            del self._answers[key, op]
        self.execute(
            "DELETE FROM operation WHERE conversation >= ? AND conversation < ?", (lowest, beyond)
        )

    def seen(self, conversation: Conversation, inbound: str) -> bool:
        """Whether an inbound id was marked within `SEEN_WINDOW`."""
        found = self.execute(
            "SELECT 1 FROM seen WHERE inbound = ? AND conversation = ? AND at >= ?",
            (inbound, key_of(conversation), self.now - SEEN_MICROSECONDS),
        ).fetchone()
        return found is not None

    def mark_seen(self, conversation: Conversation, inbound: str) -> bool:
        """Mark an inbound id; answer whether it was new within `SEEN_WINDOW`."""
        marked = self.execute(
            "INSERT INTO seen VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET at = excluded.at WHERE at < ?",
            (inbound, key_of(conversation), self.now, self.now - SEEN_MICROSECONDS),
        )
        return marked.rowcount == 1

    def refuse_gone(self, conversation: Conversation) -> None:
        """Raise `Gone` if the conversation or its owner is being forgotten."""
        if self.tombstones():
            self.refuse_target(conversation)
            self.refuse_target(Owner(conversation.owner))

    def is_gone(self, conversation: Conversation) -> bool:
        """Whether the conversation or its owner is being forgotten."""
        return not self.tombstones().isdisjoint((conversation, Owner(conversation.owner)))

    def refuse_target(self, target: Target) -> None:
        """Raise `Gone` if exactly *target* is being forgotten."""
        if target in self.tombstones():
            raise Gone(f"{target} is being forgotten; try again in a moment")

    def tombstones(self) -> frozenset[Target]:
        """What is being forgotten: mostly nothing, so all of it is read, once for all the steps."""
        if self._tombstones is None:
            rows = self.execute("SELECT owner, conversation, author FROM tombstone")
            self._tombstones = frozenset(target_of(*row) for row in rows)
        return self._tombstones

    def mark_gone(self, target: Target, *, done: bool) -> None:
        """Set the tombstone of *target*, or remove it."""
        row = tombstone_of(target)
        if done:
            self.execute(
                "DELETE FROM tombstone WHERE (owner, conversation, author) = (?, ?, ?)", row
            )
        else:
            self.execute("INSERT OR IGNORE INTO tombstone VALUES (?, ?, ?)", row)
        self._tombstones = None


def key_of(conversation: Conversation) -> str:
    """Return the key under which a conversation's rows are filed."""
    return f"{conversation.owner} {conversation.id}"


def conversation_of(key: str) -> Conversation:
    """Return the conversation that `key_of` was given."""
    owner, _, name = key.partition(" ")
    return Conversation(owner, name)


def keys_of(owner: str | None) -> tuple[str, str]:
    """Return the first key that an owner's conversation may have, and the first beyond."""
    if owner is None:
        return "", "\U0010ffff"  # of all owners
    return f"{owner} ", f"{owner}!"


def tombstone_of(target: Target) -> tuple[str, str, str]:
    """Return the row that marks *target*."""
    match target:
        case Owner(owner):
            return owner, "", ""
        case Conversation(owner, conversation):
            return owner, conversation, ""
        case Author(author):
            return "", "", author


def target_of(owner: str, conversation: str, author: str) -> Target:
    """Return the target that `tombstone_of` was given."""
    if author:
        return Author(author)
    return Conversation(owner, conversation) if conversation else Owner(owner)
