"""
Records that cannot be read: text that is none, ids and words that no version wrote.

They are read as bytes here, found out with the means of those who read them otherwise, and moved to
the dead letters.
"""

from collections.abc import Callable

from state.errors import Unacceptable
from state.ids import PAYLOAD_LIMIT
from state.sqlite import endings, handover
from state.sqlite.transaction import Transaction, conversation_of, key_of
from state.values import CatchUp, Conversation, Inbound, SignalKind, Timer

Row = tuple[bytes | None, ...]


def set_aside_range(tx: Transaction, lowest: str, beyond: str) -> None:
    """Do as `set_aside` for all conversations within a range of keys."""
    rows = tx.execute(
        "SELECT CAST(key AS BLOB) FROM conversation WHERE key >= ? AND key < ?", (lowest, beyond)
    ).fetchall()
    for (key,) in rows:
        if (where := conversation_in(key)) is not None:
            set_aside(tx, where)


def conversation_in(key: bytes) -> Conversation | None:
    """Read the key of a conversation; None for what is none."""
    try:
        return conversation_of(key.decode())
    except (ValueError, Unacceptable):
        return None


def set_aside(tx: Transaction, conversation: Conversation) -> None:
    """Make dead letters of what cannot be read of one conversation."""
    key = key_of(conversation)
    turn = _turn(tx, key)
    found = ([] if turn is None else [("turn", turn)]) + _waiting(tx, key) + _timers(tx, key)
    found += _letters(tx, key)
    record = tx.find(conversation) if found else None
    if record is None:
        return
    if turn is not None:
        record.turn = record.turn or ""
        endings.end_turn(tx, record)
    for column, rows in (
        ("waiting", "inbound WHERE part IS NULL AND"),
        ("timers", "timer WHERE"),
        ("dead", "dead_letter WHERE"),
    ):
        count = tx.execute(f"SELECT count(*) FROM {rows} conversation = ?", (key,)).fetchone()[0]  # noqa: S608 (our tables)
        setattr(record, column, count)
    for place, (what, raw) in enumerate(found):
        name, error = f"unreadable-{place}.{tx.now}", f"a {what} that cannot be read"
        endings.keep_letter(tx, record, name, error, raw=raw[:PAYLOAD_LIMIT])
    tx.forget_answers(key, f"{key}!")  # a repeat would be shown the same again
    handover.rewake(tx, record)
    tx.store(record)


def _turn(tx: Transaction, key: str) -> bytes | None:
    """Answer what there is of a turn that cannot be read, and leave its row readable."""
    row: Row | None = tx.execute(
        "SELECT CAST(turn AS BLOB), CAST(lead AS BLOB), CAST(token AS BLOB), CAST(signal AS BLOB), "
        "CAST(signal_by AS BLOB) FROM conversation WHERE key = ?",
        (key,),
    ).fetchone()
    if row is None:
        return None
    inbounds = tx.execute(
        "SELECT CAST(name AS BLOB), CAST(author AS BLOB), payload, CAST(joins AS BLOB) "
        "FROM inbound WHERE conversation = ? AND part IS NOT NULL",
        (key,),
    ).fetchall()
    entries = tx.execute(
        "SELECT CAST(kind AS BLOB), CAST(name AS BLOB), CAST(key AS BLOB), "
        "CAST(message_id AS BLOB) FROM journal WHERE conversation = ?",
        (key,),
    ).fetchall()
    if (
        reads(_head, row)
        and all(reads(_inbound, each) for each in inbounds)
        and all(reads(_entry, each) for each in entries)
    ):
        return None
    tx.execute(
        "UPDATE conversation SET turn = '', lead = '', token = NULL, signal = NULL, "
        "signal_by = NULL WHERE key = ?",
        (key,),
    )
    return b"\n".join(joined(each) for each in (row, *inbounds, *entries))


def _head(turn: bytes | None, *texts: bytes | None) -> None:
    lead, token, signal, by = (None if text is None else text.decode() for text in texts)
    if turn is not None:
        Inbound(turn.decode(), lead or "", b"")
    if signal is not None:
        SignalKind(signal)
    del token, by  # they need only be text


def _inbound(name: bytes, author: bytes, payload: bytes, joins: bytes | None) -> None:
    Inbound(name.decode(), author.decode(), payload)
    if joins is not None:
        joins.decode()


def _entry(kind: bytes, name: bytes, key: bytes, message_id: bytes | None) -> None:
    texts = [text.decode() for text in (name, key, message_id or b"")]
    if kind == b"page":
        list(map(int, texts[:2]))
    if kind == b"take":
        int(texts[1])


def _waiting(tx: Transaction, key: str) -> list[tuple[str, bytes]]:
    rows = tx.execute(
        "SELECT place, CAST(name AS BLOB), CAST(author AS BLOB), payload, CAST(joins AS BLOB) "
        "FROM inbound WHERE conversation = ? AND part IS NULL ORDER BY place",
        (key,),
    ).fetchall()
    bad = [row for row in rows if not reads(_inbound, row[1:])]
    for row in bad:
        tx.execute("DELETE FROM inbound WHERE conversation = ? AND place = ?", (key, row[0]))
    return [("message", joined(row[1:])) for row in bad]


def _timers(tx: Transaction, key: str) -> list[tuple[str, bytes]]:
    rows = tx.execute(
        "SELECT id, CAST(name AS BLOB), CAST(inbound AS BLOB), CAST(author AS BLOB), payload, "
        "CAST(catch_up AS BLOB), delay, every FROM timer WHERE conversation = ? ORDER BY id",
        (key,),
    ).fetchall()
    bad = [row for row in rows if not reads(_timer, row[1:])]
    for row in bad:
        tx.execute("DELETE FROM timer WHERE id = ?", row[:1])
    return [("timer", joined(row[1:6])) for row in bad]


def _timer(
    name: bytes,
    inbound: bytes,
    author: bytes,
    payload: bytes,
    catch_up: bytes,
    delay: float,
    every: float | None,
) -> None:
    given = Inbound(inbound.decode(), author.decode(), payload)
    Timer(name.decode(), given, delay, every, CatchUp(catch_up.decode()))


def _letters(tx: Transaction, key: str) -> list[tuple[str, bytes]]:
    letters = tx.execute(
        "SELECT id, CAST(name AS BLOB), CAST(error AS BLOB) "
        "FROM dead_letter WHERE conversation = ?",
        (key,),
    ).fetchall()
    found = []
    for letter, *texts in letters:
        rows = tx.execute(
            "SELECT CAST(name AS BLOB), CAST(author AS BLOB), payload, NULL FROM dead_inbound "
            "WHERE dead_letter = ?",
            (letter,),
        ).fetchall()
        if reads(_texts, tuple(texts)) and all(reads(_inbound, row) for row in rows):
            continue
        tx.execute("DELETE FROM dead_inbound WHERE dead_letter = ?", (letter,))
        tx.execute("DELETE FROM dead_letter WHERE id = ?", (letter,))
        found.append(("dead letter", b"\n".join(map(joined, (tuple(texts), *rows)))))
    return found


def _texts(*texts: bytes) -> None:
    for text in texts:
        text.decode()


def reads(reader: Callable[..., None], row: Row) -> bool:
    """Whether *reader* can make something of a row."""
    try:
        reader(*row)
    except (ValueError, TypeError, Unacceptable):
        return False
    return True


def joined(row: Row) -> bytes:
    """Return the raw bytes of a row."""
    return b" ".join(column for column in row if column is not None)
