"""The inbounds of a conversation: those that wait, and those of its turn."""

from collections.abc import Iterable

from state.outcomes import Running
from state.sqlite.records import Record, Waiting
from state.sqlite.transaction import Transaction
from state.values import Inbound


def entries(tx: Transaction, record: Record) -> list[Waiting]:
    """List what waits, first in line first; payloads are loaded when they are asked for."""
    if record.inbox is None:
        record.inbox = []
        if record.waiting:
            rows = tx.execute(
                "SELECT name, author, at, after, gather, joins, place FROM inbound "
                "WHERE conversation = ? AND part IS NULL ORDER BY place",
                (record.key,),
            )
            record.inbox = [Waiting(*row) for row in rows]
    return record.inbox


def waiting(tx: Transaction, record: Record, name: str) -> Waiting | None:
    """The entry of one inbound that waits."""
    return next((entry for entry in entries(tx, record) if entry.name == name), None)


def inbounds(tx: Transaction, record: Record, some: Iterable[Waiting]) -> tuple[Inbound, ...]:
    """Return entries of the inbox as what was admitted."""
    return tuple([entry.inbound or _inbound(tx, record, entry) for entry in some])


def _inbound(tx: Transaction, record: Record, entry: Waiting) -> Inbound:
    (payload,) = tx.execute(
        "SELECT payload FROM inbound WHERE conversation = ? AND place = ?",
        (record.key, entry.place),
    ).fetchone()
    return Inbound(entry.name, entry.author, payload)


def append(tx: Transaction, record: Record, entry: Waiting) -> None:
    """Put an entry last in line; `Transaction.store` writes it if it still waits then."""
    record.tail += 1
    entry.place = record.tail
    entries(tx, record).append(entry)
    record.waiting += 1


def prepend(tx: Transaction, record: Record, entry: Waiting) -> None:
    """Put an entry first in line, else as `append` does."""
    record.head -= 1
    entry.place = record.head
    entries(tx, record).insert(0, entry)
    record.waiting += 1


def remove(tx: Transaction, record: Record, gone: list[Waiting]) -> tuple[Inbound, ...]:
    """Take entries off the inbox for good; answer what they were."""
    removed = inbounds(tx, record, gone)
    for entry in gone:
        if entry.stored:
            tx.execute(
                "DELETE FROM inbound WHERE conversation = ? AND place = ?",
                (record.key, entry.place),
            )
    _leave(tx, record, gone)
    return removed


def move(tx: Transaction, record: Record, members: list[Waiting], part: int) -> tuple[Inbound, ...]:
    """Move entries into the turn, in the order given and after what it has; answer them."""
    moved = inbounds(tx, record, members)
    for entry, inbound in zip(members, moved, strict=True):
        record.tail += 1
        place, entry.place = entry.place, record.tail
        if not entry.stored:
            tx.insert_inbound(record, entry, inbound, part)
        else:
            tx.execute(
                "UPDATE inbound SET part = ?, place = ? WHERE conversation = ? AND place = ?",
                (part, entry.place, record.key, place),
            )
    _leave(tx, record, members)
    return moved


def _leave(tx: Transaction, record: Record, gone: list[Waiting]) -> None:
    before = entries(tx, record)
    record.inbox = [entry for entry in before if entry not in gone]
    record.waiting -= len(before) - len(record.inbox)


def of_author(tx: Transaction, record: Record, author: str | None) -> list[Waiting]:
    """List what waits of *author*, or all."""
    return [entry for entry in entries(tx, record) if author in (None, entry.author)]


def withdraw(tx: Transaction, record: Record, author: str | None) -> tuple[Inbound, ...]:
    """Remove what waits of *author* (or all); answer it, first in line first."""
    return remove(tx, record, of_author(tx, record, author))


# --- the turn's ---------------------------------------------------------------------------------


def of_part(tx: Transaction, record: Record, part: int) -> tuple[Inbound, ...]:
    """List the inbounds that made the turn (part 0), or that its n-th take moved."""
    rows = tx.execute(
        "SELECT name, author, payload FROM inbound WHERE conversation = ? AND part = ? "
        "ORDER BY place",
        (record.key, part),
    )
    return tuple(Inbound(*row) for row in rows)


def of_turn(tx: Transaction, record: Record) -> tuple[Inbound, ...]:
    """List those that made the turn, then those that it took."""
    rows = tx.execute(
        "SELECT name, author, payload FROM inbound "
        "WHERE conversation = ? AND part IS NOT NULL ORDER BY part, place",
        (record.key,),
    )
    return tuple(Inbound(*row) for row in rows)


def includes(tx: Transaction, record: Record, author: str) -> bool:
    """Whether *author* wrote one of the turn's inbounds."""
    found = tx.execute(
        "SELECT 1 FROM inbound WHERE conversation = ? AND part IS NOT NULL AND author = ? LIMIT 1",
        (record.key, author),
    ).fetchone()
    return found is not None


def answers(tx: Transaction, record: Record, name: str) -> bool:
    """Whether the inbound is one of the turn's."""
    found = tx.execute(
        "SELECT 1 FROM inbound WHERE conversation = ? AND part IS NOT NULL AND name = ? LIMIT 1",
        (record.key, name),
    ).fetchone()
    return found is not None


def running(tx: Transaction, record: Record) -> Running | None:
    """Show the turn to others."""
    if record.turn is None:
        return None
    token, age = record.living(tx.now), (tx.now - record.begun) / 1e6
    live = token is not None
    inbounds_ = of_turn(tx, record)
    return Running(record.turn, record.lead, inbounds_, age, live, record.pending, token)
