"""The steps that record what a turn has done, and the journal that its next holder replays."""

from state.sqlite.records import Record
from state.sqlite.transaction import Transaction
from state.values import Lease, Page, Step


def record(tx: Transaction, lease: Lease, name: str, key: str, value: bytes) -> bytes:
    """See `State.record`."""
    conversation, expiries = tx.turn_of(lease)
    if add(tx, conversation, "step", name, key, value):
        if expiries:
            tx.execute("UPDATE conversation SET expiries = 0 WHERE key = ?", (conversation,))
        return value
    (recorded,) = tx.execute(
        "SELECT value FROM journal "
        "WHERE conversation = ? AND kind = 'step' AND name = ? AND key = ?",
        (conversation, name, key),
    ).fetchone()
    return bytes(recorded)


def page(tx: Transaction, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
    """See `State.page`."""
    conversation, _ = tx.turn_of(lease)
    if add(tx, conversation, "page", str(number), str(issue), intent):
        return Page(number, issue, intent)
    recorded, message_id = tx.execute(
        "SELECT value, message_id FROM journal "
        "WHERE conversation = ? AND kind = 'page' AND name = ? AND key = ?",
        (conversation, str(number), str(issue)),
    ).fetchone()
    return Page(number, issue, recorded, message_id)


def posted(tx: Transaction, lease: Lease, number: int, issue: int, message_id: str) -> None:
    """See `State.posted`."""
    conversation, _ = tx.turn_of(lease)
    tx.execute(
        "INSERT INTO journal (conversation, kind, name, key, value, message_id, place) "
        "VALUES (?1, 'page', ?2, ?3, ?4, ?5, "
        "(SELECT count(*) FROM journal WHERE conversation = ?1)) "
        "ON CONFLICT DO UPDATE SET message_id = excluded.message_id",
        (conversation, str(number), str(issue), b"", message_id),
    )


def add(tx: Transaction, conversation: str, kind: str, name: str, key: str, value: bytes) -> bool:
    """Record an entry of the turn; answer whether it is the first of its name and key."""
    written = tx.execute(
        "INSERT OR IGNORE INTO journal (conversation, kind, name, key, value, place) "
        "VALUES (?1, ?2, ?3, ?4, ?5, (SELECT count(*) FROM journal WHERE conversation = ?1))",
        (conversation, kind, name, key, value),
    )
    return written.rowcount == 1


# --- for the next holder ------------------------------------------------------------------------


def steps(tx: Transaction, record: Record) -> tuple[Step, ...]:
    """List the turn's steps in the order in which they were recorded."""
    rows = tx.execute(
        "SELECT name, key, value FROM journal "
        "WHERE conversation = ? AND kind = 'step' ORDER BY place",
        (record.key,),
    )
    return tuple(Step(*row) for row in rows)


def pages(tx: Transaction, record: Record) -> tuple[Page, ...]:
    """List the turn's pages in the order in which they were recorded."""
    rows = tx.execute(
        "SELECT name, key, value, message_id FROM journal "
        "WHERE conversation = ? AND kind = 'page' ORDER BY place",
        (record.key,),
    )
    return tuple(
        Page(int(number), int(issue), intent, message_id)
        for number, issue, intent, message_id in rows
    )


def carried(tx: Transaction, record: Record) -> bytes | None:
    """What the turn that this one replaces handed on."""
    found = tx.execute(
        "SELECT value FROM journal WHERE conversation = ? AND kind = 'carry'", (record.key,)
    ).fetchone()
    return found[0] if found else None
