"""Forgetting in batches: whole conversations, or one person's text in every conversation."""

from state.keys import Author, Owner
from state.outcomes import Forgetting
from state.sqlite import alarms, endings, handover, inbox
from state.sqlite.records import Record, Waiting
from state.sqlite.transaction import Target, Transaction, conversation_of, key_of, keys_of
from state.values import Conversation

#: The tables whose rows belong to one conversation's row.
_OF_CONVERSATION = ("inbound", "journal", "timer", "state", "transcript", "dead_letter", "answer")

#: Conversations in which an author left anything.
_TRACES = """
SELECT conversation FROM inbound WHERE author = :author
UNION SELECT conversation FROM transcript WHERE author = :author AND author <> ''
UNION SELECT conversation FROM timer WHERE author = :author
UNION SELECT conversation FROM dead_letter WHERE instr(raw, CAST(:author AS BLOB)) > 0
UNION SELECT conversation
      FROM dead_inbound JOIN dead_letter ON dead_letter.id = dead_inbound.dead_letter
      WHERE author = :author
"""


def forget(tx: Transaction, target: Target, limit: int) -> Forgetting:
    """See `State.forget`."""
    if isinstance(target, Author):
        mine = sorted(tx.execute(_TRACES, {"author": target.id}).fetchall())
        for (key,) in mine[:limit]:
            _erase(tx, key, target.id)
    else:
        mine = _forget_range(tx, *_range(target), limit)
    done = len(mine) <= limit
    if done:
        _forget_beside(tx, target)
    tx.mark_gone(target, done=done)
    return Forgetting(done, min(len(mine), limit))


def _forget_range(tx: Transaction, lowest: str, beyond: str, limit: int) -> list[tuple[str]]:
    """Refuse all holders, and drop a batch of conversations; answer which there were before."""
    mine = tx.execute(
        "SELECT key FROM conversation WHERE key >= ? AND key < ? ORDER BY key", (lowest, beyond)
    ).fetchall()
    tx.execute("UPDATE conversation SET token = NULL WHERE key >= ? AND key < ?", (lowest, beyond))
    for row in mine[:limit]:
        tx.forget_answers(*_range(conversation_of(*row)))
        tx.execute(
            "DELETE FROM dead_inbound WHERE dead_letter IN "
            "(SELECT id FROM dead_letter WHERE conversation = ?)",
            row,
        )
        for table in _OF_CONVERSATION:
            tx.execute(f"DELETE FROM {table} WHERE conversation = ?", row)  # noqa: S608 (our tables)
        tx.execute("DELETE FROM conversation WHERE key = ?", row)
    return mine


def _forget_beside(tx: Transaction, target: Target) -> None:
    """Drop what is not filed under a conversation's row, once the rows are gone."""
    if isinstance(target, Author):
        _drop_pairs(tx, "person = ?", target.id)
        return
    if isinstance(target, Owner):
        _drop_pairs(tx, "owner = ?", target.id)
    else:
        _drop_pairs(tx, "owner = ? AND conversation = ?", target.owner, target.id)
    # Marks are filed by inbound, so this reads all those of the window; a forget is rare.
    tx.execute("DELETE FROM seen WHERE conversation >= ? AND conversation < ?", _range(target))
    tx.forget_answers(*_range(target))


def _range(target: Owner | Conversation) -> tuple[str, str]:
    """The first key of what is forgotten, and the first beyond."""
    return (
        keys_of(target.id) if isinstance(target, Owner) else (key_of(target), f"{key_of(target)}!")
    )


def _drop_pairs(tx: Transaction, condition: str, *values: str) -> None:
    tx.execute(
        f"DELETE FROM item WHERE pair IN (SELECT id FROM pair WHERE {condition})",  # noqa: S608 (our conditions)
        values,
    )
    tx.execute(f"DELETE FROM pair WHERE {condition}", values)  # noqa: S608 (our conditions)


# --- one person ---------------------------------------------------------------------------------


def _erase(tx: Transaction, key: str, author: str) -> None:
    """Remove one person's text from one conversation; end a turn that they take part in."""
    record = tx.find(conversation_of(key))
    if record is None:
        return
    if record.turn is not None and inbox.includes(tx, record, author):
        others = [i for i in inbox.of_turn(tx, record) if i.author != author]
        endings.end_turn(tx, record)
        for inbound in reversed(others):
            inbox.prepend(tx, record, Waiting.of(inbound, tx.now))
        record.wake = None
    inbox.withdraw(tx, record, author)
    handover.relent(tx, record)
    record.kept -= tx.execute(
        "DELETE FROM transcript WHERE conversation = ? AND author = ?", (key, author)
    ).rowcount
    _erase_letters(tx, record, author)
    timers = tx.execute(
        "SELECT name FROM timer WHERE conversation = ? AND author = ?", (key, author)
    ).fetchall()
    for (name,) in timers:
        alarms.remove(tx, record, name)
    tx.forget_answers(*_range(record.conversation))
    handover.rewake(tx, record)
    tx.store(record)


def _erase_letters(tx: Transaction, record: Record, author: str) -> None:
    """Remove one person's inbounds from the dead letters, and letters of which nothing is left."""
    tx.execute(
        "DELETE FROM dead_inbound WHERE author = ? AND dead_letter IN "
        "(SELECT id FROM dead_letter WHERE conversation = ?)",
        (author, record.key),
    )
    empty = tx.execute(
        "SELECT id FROM dead_letter WHERE conversation = ? "
        "AND id NOT IN (SELECT dead_letter FROM dead_inbound) "
        "AND coalesce(instr(raw, CAST(? AS BLOB)), 1) > 0",
        (record.key, author),
    ).fetchall()
    for (letter,) in empty:
        endings.drop_letter(tx, record, letter)
