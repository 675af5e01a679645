"""The rows of a conversation's inbox, turn and journal."""

from state.outcomes import Running
from state.sqlite.records import Record, Transaction
from state.values import Inbound, Page, Step


def append(tx: Transaction, record: Record, inbound: Inbound) -> None:
    """Put *inbound* at the end of the inbox."""
    tx.execute(
        "INSERT INTO inbound (conversation, name, author, payload, at) VALUES (?, ?, ?, ?, ?)",
        (record.id, inbound.id, inbound.author, inbound.payload, tx.now),
    )
    record.waiting += 1


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


def drop_head(tx: Transaction, record: Record) -> Inbound:
    """Remove the oldest waiting inbound and answer it."""
    number, *inbound = tx.execute(
        "SELECT id, name, author, payload FROM inbound "
        "WHERE conversation = ? AND part IS NULL ORDER BY id LIMIT 1",
        (record.id,),
    ).fetchone()
    tx.execute("DELETE FROM inbound WHERE id = ?", (number,))
    record.waiting -= 1
    return Inbound(*inbound)


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


def steps(tx: Transaction, record: Record) -> tuple[Step, ...]:
    """List the turn's steps in the order in which they were recorded."""
    rows = tx.execute(
        "SELECT name, key, value FROM journal WHERE conversation = ? AND kind = 'step' ORDER BY id",
        (record.id,),
    )
    return tuple(Step(*row) for row in rows)


def pages(tx: Transaction, record: Record) -> tuple[Page, ...]:
    """List the turn's pages in the order in which they were recorded."""
    rows = tx.execute(
        "SELECT name, key, value, message_id FROM journal "
        "WHERE conversation = ? AND kind = 'page' ORDER BY id",
        (record.id,),
    )
    return tuple(
        Page(int(number), int(issue), intent, message_id)
        for number, issue, intent, message_id in rows
    )


def carried(tx: Transaction, record: Record) -> bytes | None:
    """What the turn that this one replaces handed on."""
    found = tx.execute(
        "SELECT value FROM journal WHERE conversation = ? AND kind = 'carry'", (record.id,)
    ).fetchone()
    return found[0] if found else None


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


def drop_turn(tx: Transaction, record: Record) -> None:
    """Delete the turn's inbounds and everything that it recorded."""
    tx.execute("DELETE FROM inbound WHERE conversation = ? AND part IS NOT NULL", (record.id,))
    tx.execute("DELETE FROM journal WHERE conversation = ?", (record.id,))
