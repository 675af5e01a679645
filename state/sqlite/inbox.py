"""The inbounds of a conversation: those that wait, and those of its turn."""

from state.outcomes import Running
from state.sqlite.records import Record, Transaction
from state.values import Inbound


def waiting(tx: Transaction, record: Record, author: str | None = None) -> list[Inbound]:
    """List what waits (of *author*, or all), oldest first."""
    if not record.waiting:
        return []
    rows = tx.execute(
        "SELECT name, author, payload FROM inbound "
        "WHERE conversation = ? AND part IS NULL AND author = coalesce(?, author) ORDER BY id",
        (record.id, author),
    )
    return [Inbound(*row) for row in rows]


def share(tx: Transaction, record: Record, author: str) -> int:
    """Count what waits of *author*."""
    if not record.waiting:
        return 0
    (count,) = tx.execute(
        "SELECT count(*) FROM inbound WHERE conversation = ? AND part IS NULL AND author = ?",
        (record.id, author),
    ).fetchone()
    return int(count)


def withdraw(tx: Transaction, record: Record, author: str | None) -> tuple[Inbound, ...]:
    """Remove the waiting inbounds of *author* (or all); answer them, oldest first."""
    gone = tuple(waiting(tx, record, author))
    if gone:
        tx.execute(
            "DELETE FROM inbound "
            "WHERE conversation = ? AND part IS NULL AND author = coalesce(?, author)",
            (record.id, author),
        )
        record.waiting -= len(gone)
    return gone


def move(tx: Transaction, record: Record, author: str | None, part: int) -> tuple[Inbound, ...]:
    """Move the waiting inbounds of *author* (or all) into the turn; answer them, oldest first."""
    moved = tuple(waiting(tx, record, author))
    if moved:
        tx.execute(
            "UPDATE inbound SET part = ? "
            "WHERE conversation = ? AND part IS NULL AND author = coalesce(?, author)",
            (part, record.id, author),
        )
        record.waiting -= len(moved)
    return moved


def pop(tx: Transaction, record: Record, oldest: int) -> tuple[int, Inbound]:
    """
    Take the head off the inbox; answer when it was admitted, and it.

    Admitted before *oldest* it is gone, otherwise it makes the turn.
    """
    record.waiting -= 1
    if not record.waiting and record.arriving is not None and tx.now >= oldest:
        arrived = record.arriving
        tx.insert_inbound(record, arrived, 0)
        return tx.now, arrived
    number, at, *columns = tx.execute(
        "SELECT id, at, name, author, payload FROM inbound "
        "WHERE conversation = ? AND part IS NULL ORDER BY id LIMIT 1",
        (record.id,),
    ).fetchone()
    if at < oldest:
        tx.execute("DELETE FROM inbound WHERE id = ?", (number,))
    else:
        tx.execute("UPDATE inbound SET part = 0 WHERE id = ?", (number,))
    return at, Inbound(*columns)


# --- the turn's ---------------------------------------------------------------------------------


def of_part(tx: Transaction, record: Record, part: int) -> tuple[Inbound, ...]:
    """List the inbounds that made the turn (part 0), or that its n-th take moved, oldest first."""
    rows = tx.execute(
        "SELECT name, author, payload FROM inbound WHERE conversation = ? AND part = ? ORDER BY id",
        (record.id, part),
    )
    return tuple(Inbound(*row) for row in rows)


def of_turn(tx: Transaction, record: Record) -> tuple[Inbound, ...]:
    """List those that made the turn, then those that it took."""
    rows = tx.execute(
        "SELECT name, author, payload FROM inbound "
        "WHERE conversation = ? AND part IS NOT NULL ORDER BY part, id",
        (record.id,),
    )
    return tuple(Inbound(*row) for row in rows)


def includes(tx: Transaction, record: Record, author: str) -> bool:
    """Whether *author* wrote one of the turn's inbounds."""
    found = tx.execute(
        "SELECT 1 FROM inbound WHERE conversation = ? AND part IS NOT NULL AND author = ? LIMIT 1",
        (record.id, author),
    ).fetchone()
    return found is not None


def running(tx: Transaction, record: Record) -> Running | None:
    """Show the turn to others."""
    if record.turn is None:
        return None
    return Running(
        record.turn,
        record.lead,
        of_turn(tx, record),
        (tx.now - record.begun) / 1e6,
        record.held(tx.now),
        record.pending,
    )
