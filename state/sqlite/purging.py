"""What is dropped once its window has passed: a few rows with each transaction that writes."""

from state.ports import ANSWER_WINDOW
from state.sqlite.transaction import (
    OP_MICROSECONDS,
    SEEN_MICROSECONDS,
    Transaction,
    conversation_of,
)

#: The window in microseconds, as the store's clock counts.
ANSWER_MICROSECONDS = int(ANSWER_WINDOW * 1e6)


def purge(tx: Transaction, rows: int) -> None:
    """Drop at most *rows* of each kind that are beyond their windows, the oldest first."""
    tx.execute(
        "DELETE FROM operation WHERE (minute, conversation, op) IN "
        "(SELECT minute, conversation, op FROM operation WHERE minute < ? LIMIT ?)",
        (tx.now // OP_MICROSECONDS - 1, rows),
    )
    tx.execute(
        "DELETE FROM seen WHERE (inbound, conversation) IN "
        "(SELECT inbound, conversation FROM seen WHERE at < ? ORDER BY at LIMIT ?)",
        (tx.now - SEEN_MICROSECONDS, rows),
    )
    _purge_pairs(tx, rows)
    _purge_answers(tx, rows)


def _purge_pairs(tx: Transaction, rows: int) -> None:
    expired = tx.execute(
        "SELECT id FROM pair WHERE until <= ? ORDER BY until LIMIT ?", (tx.now, rows)
    ).fetchall()
    for pair in expired:
        tx.execute("DELETE FROM item WHERE pair = ?", pair)
        tx.execute("DELETE FROM pair WHERE id = ?", pair)


def _purge_answers(tx: Transaction, rows: int) -> None:
    """Drop old answers, and with the last one the row of a conversation that is idle otherwise."""
    expired = tx.execute(
        "SELECT conversation, inbound FROM answer WHERE at < ? ORDER BY at LIMIT ?",
        (tx.now - ANSWER_MICROSECONDS, rows),
    ).fetchall()
    for key, inbound in expired:
        record = tx.find(conversation_of(key))
        if record is not None:
            tx.execute(
                "DELETE FROM answer WHERE conversation = ? AND inbound = ?", (record.key, inbound)
            )
            record.given -= 1
            tx.store(record)
