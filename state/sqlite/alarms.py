"""The timers of a conversation: setting them, and promoting those that are due to inbounds."""

from state.ports import CATCH_UP_LIMIT
from state.sqlite import inbox
from state.sqlite.records import Record, Waiting
from state.sqlite.transaction import Transaction
from state.values import CatchUp, Inbound, Timer


def set_alarm(tx: Transaction, record: Record, timer: Timer) -> int:
    """Set *timer*, replacing one of its id; answer its generation."""
    due = tx.now + int(timer.delay * 1e6)
    inbound = timer.inbound
    what = (inbound.id, inbound.author, inbound.payload, timer.delay, timer.every, timer.catch_up)
    replaced = tx.execute(
        "UPDATE timer SET generation = generation + 1, due = ?, occurrence = 0, inbound = ?, "
        "author = ?, payload = ?, delay = ?, every = ?, catch_up = ? "
        "WHERE conversation = ? AND name = ? RETURNING generation",
        (due, *what, record.key, timer.id),
    ).fetchone()
    if replaced is not None:
        return int(replaced[0])
    tx.execute(
        "INSERT INTO timer (conversation, name, generation, due, occurrence, "
        "inbound, author, payload, delay, every, catch_up) "
        "VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)",
        (record.key, timer.id, tx.now, due, *what),
    )
    record.timers += 1
    return tx.now


def remove(tx: Transaction, record: Record, name: str) -> bool:
    """Remove a timer; answer whether there was one."""
    gone = tx.execute(
        "DELETE FROM timer WHERE conversation = ? AND name = ?", (record.key, name)
    ).rowcount
    record.timers -= gone
    return gone > 0


def first(tx: Transaction, record: Record) -> list[int]:
    """When the first timer is due, if there is one."""
    if not record.timers:
        return []
    found = tx.execute("SELECT min(due) FROM timer WHERE conversation = ?", (record.key,))
    return list(found.fetchone())


def ring(tx: Transaction, record: Record) -> None:
    """Promote due timers to inbounds, and set the next occurrence of the recurring ones."""
    if not record.timers:
        return
    due = tx.execute(
        "SELECT id, name, generation, due, occurrence, author, payload, every, catch_up "
        "FROM timer WHERE conversation = ? AND due <= ? ORDER BY due, id",
        (record.key, tx.now),
    ).fetchall()
    for row, name, generation, at, occurrence, author, payload, every, catch_up in due:
        missed = 1 if every is None else (tx.now - at) // int(every * 1e6) + 1
        numbers = range(occurrence, occurrence + missed)
        for number in numbers[-CATCH_UP_LIMIT:] if catch_up == CatchUp.EACH else numbers[-1:]:
            inbound = Inbound(f"{name}@{generation}.{number}", author, payload)
            inbox.append(tx, record, Waiting.of(inbound, tx.now))
        if every is None:
            remove(tx, record, name)
        else:
            tx.execute(
                "UPDATE timer SET due = ?, occurrence = ? WHERE id = ?",
                (at + missed * int(every * 1e6), occurrence + missed, row),
            )
