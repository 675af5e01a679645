"""What is dropped with a turn, and what stays of it."""

import json
from itertools import chain, repeat

from state.ports import DEAD_LETTER_LIMIT
from state.sqlite import alarms
from state.sqlite.records import Record
from state.sqlite.transaction import Transaction
from state.values import Changes, Inbound


def end_turn(tx: Transaction, record: Record) -> None:
    """Drop the turn and its lease; what comes next is the caller's."""
    record.token = None
    record.expires = record.backing_off = 0
    if record.turn is None:
        return
    tx.execute("DELETE FROM inbound WHERE conversation = ? AND part IS NOT NULL", (record.key,))
    tx.execute("DELETE FROM journal WHERE conversation = ?", (record.key,))
    record.turn = record.signal = record.signal_by = None
    record.lead = ""
    record.admitted = record.begun = record.attempts = record.followups = record.expiries = 0
    record.everyone = record.rejoined = record.detached = 0


def kept_state(tx: Transaction, record: Record) -> tuple[bytes | None, int]:
    """The conversation's state and its version."""
    if not record.stateful:
        return None, 0
    value, version = tx.execute(
        "SELECT value, version FROM state WHERE conversation = ?", (record.key,)
    ).fetchone()
    return value, version


def write(
    tx: Transaction,
    record: Record,
    changes: Changes,
    *,
    state: bool,
    but: tuple[Inbound, ...] = (),
) -> None:
    """
    Write timers, answer (except to those in *but*), the transcript and (if *state*) state.

    State and transcript only unless the conversation was reset meanwhile.
    """
    if changes.answer is not None:
        _answer(tx, record, changes.answer, but)
    for name in changes.unschedule:
        alarms.remove(tx, record, name)
    for timer in changes.timers:
        alarms.set_alarm(tx, record, timer)
    if record.detached:
        return
    if state and changes.state is not None:
        tx.execute(
            "INSERT OR REPLACE INTO state VALUES (?, ?, ?)",
            (record.key, changes.state_version, changes.state),
        )
        record.stateful = 1
    if changes.transcript or record.kept:
        _transcribe(tx, record, changes)


def _answer(tx: Transaction, record: Record, answer: bytes, but: tuple[Inbound, ...]) -> None:
    """Keep the answer for each inbound of the turn that has none yet."""
    written = tx.execute(
        "INSERT OR IGNORE INTO answer (conversation, inbound, at, value) "
        "SELECT conversation, name, ?, ? FROM inbound WHERE conversation = ? AND part IS NOT NULL "
        "AND name NOT IN (SELECT value FROM json_each(?))",
        (tx.now, answer, record.key, json.dumps([inbound.id for inbound in but])),
    )
    record.given += written.rowcount


def _transcribe(tx: Transaction, record: Record, changes: Changes) -> None:
    for payload, author in zip(changes.transcript, chain(changes.authors, repeat(""))):  # noqa: B905 (as many as there are entries)
        record.entries += 1
        tx.execute(
            "INSERT INTO transcript VALUES (?, ?, ?, ?)",
            (record.key, record.entries, author, payload),
        )
    record.kept += len(changes.transcript)
    if record.kept > changes.keep:
        tx.execute(
            "DELETE FROM transcript WHERE conversation = ? AND number IN "
            "(SELECT number FROM transcript WHERE conversation = ? ORDER BY number LIMIT ?)",
            (record.key, record.key, record.kept - changes.keep),
        )
        record.kept = changes.keep


def bury(tx: Transaction, record: Record, error: str) -> None:
    """Keep a turn that was given up as a dead letter, named after the turn and the time."""
    letter = keep_letter(
        tx, record, f"{record.turn}.{tx.now}", error, state=kept_state(tx, record)[0]
    )
    tx.execute(
        "INSERT INTO dead_inbound (dead_letter, name, author, payload) "
        "SELECT ?, name, author, payload FROM inbound "
        "WHERE conversation = ? AND part IS NOT NULL ORDER BY part, place",
        (letter, record.key),
    )


def keep_letter(
    tx: Transaction,
    record: Record,
    name: str,
    error: str,
    *,
    state: bytes | None = None,
    raw: bytes | None = None,
) -> int:
    """Keep a dead letter, whose inbounds are the caller's; the oldest makes room."""
    letter = tx.execute(
        "INSERT INTO dead_letter (conversation, name, error, state, at, raw) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (record.key, name, error, state, tx.now, raw),
    ).lastrowid
    record.dead += 1
    if record.dead > DEAD_LETTER_LIMIT:
        (oldest,) = tx.execute(
            "SELECT min(id) FROM dead_letter WHERE conversation = ?", (record.key,)
        ).fetchone()
        drop_letter(tx, record, oldest)
    return int(letter or 0)


def drop_letter(tx: Transaction, record: Record, letter: int) -> None:
    """Drop one dead letter of the conversation."""
    tx.execute("DELETE FROM dead_inbound WHERE dead_letter = ?", (letter,))
    tx.execute("DELETE FROM dead_letter WHERE id = ?", (letter,))
    record.dead -= 1
