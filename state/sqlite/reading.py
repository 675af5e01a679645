"""The steps that read, `reset`, and the subscriptions: what needs neither lease nor operation."""

from state.outcomes import Due, Entry, Subscriptions, View
from state.sqlite import inbox
from state.sqlite.records import Transaction, conversation_of
from state.values import Conversation, Signal, SignalKind


def due(tx: Transaction, partition: int, limit: int) -> Due:
    """See `State.due`."""
    waking = tx.execute(
        "SELECT key FROM conversation WHERE partition = ? AND wake <= ? ORDER BY wake, id LIMIT ?",
        (partition, tx.now, limit),
    )
    conversations = tuple(conversation_of(key) for (key,) in waking)
    signalled = tx.execute(
        "SELECT key, turn, signal, signal_by FROM conversation "
        "WHERE partition = ? AND signal IS NOT NULL ORDER BY id LIMIT ?",
        (partition, limit),
    )
    return Due(conversations, tuple(signal_of(*row) for row in signalled))


def signals(tx: Transaction) -> tuple[Signal, ...]:
    """List the unfinished signals of all partitions."""
    rows = tx.execute(
        "SELECT key, turn, signal, signal_by FROM conversation WHERE signal IS NOT NULL"
    )
    return tuple(signal_of(*row) for row in rows)


def signal_of(key: str, turn: str, kind: str, by: str) -> Signal:
    """Return the signal that a row of `conversation` carries."""
    return Signal(conversation_of(key), turn, SignalKind(kind), by)


def view(tx: Transaction, conversation: Conversation) -> View:
    """See `State.view`."""
    record = tx.find(conversation)
    if record is None:
        return View(None, (), subscribed=False, wake=None)
    return View(
        inbox.running(tx, record),
        tuple(inbox.waiting(tx, record)),
        bool(record.subscribed),
        None if record.wake is None else (record.wake - tx.now) / 1e6,
        record.dead,
    )


def history(
    tx: Transaction, conversation: Conversation, before: int | None, limit: int
) -> tuple[Entry, ...]:
    """See `State.history`."""
    record = tx.find(conversation)
    if record is None or limit <= 0:
        return ()
    end = record.entries + 1 if before is None else before
    rows = tx.execute(
        "SELECT number, payload FROM transcript WHERE conversation = ? AND number < ? "
        "ORDER BY number DESC LIMIT ?",
        (record.id, end, limit),
    ).fetchall()
    return tuple(Entry(*row) for row in reversed(rows))


def reset(tx: Transaction, conversation: Conversation) -> None:
    """See `State.reset`."""
    record = tx.find(conversation)
    if record is None:
        return
    tx.execute("DELETE FROM state WHERE conversation = ?", (record.id,))
    tx.execute("DELETE FROM transcript WHERE conversation = ?", (record.id,))
    record.stateful = record.kept = 0
    record.detached = int(record.turn is not None)
    tx.store(record)


def subscribe(tx: Transaction, conversation: Conversation) -> None:
    """See `State.subscribe`."""
    record = tx.load(conversation)
    record.subscribed = 1
    tx.store(record)


def unsubscribe(tx: Transaction, conversation: Conversation) -> None:
    """See `State.unsubscribe`."""
    record = tx.find(conversation)
    if record is not None:
        record.subscribed = 0
        tx.store(record)


def is_subscribed(tx: Transaction, conversation: Conversation) -> bool:
    """See `State.is_subscribed`."""
    record = tx.find(conversation)
    return record is not None and bool(record.subscribed)


def subscriptions(tx: Transaction, cursor: str | None, limit: int) -> Subscriptions:
    """See `State.subscriptions`; the cursor is the last key of the page before."""
    keys = [
        key
        for (key,) in tx.execute(
            "SELECT key FROM conversation WHERE subscribed = 1 AND key > ? ORDER BY key LIMIT ?",
            (cursor or "", limit + 1),
        )
    ]
    page = keys[:limit]
    more = len(keys) > len(page)
    return Subscriptions(tuple(map(conversation_of, page)), page[-1] if more and page else None)
