"""Signals as they are filed: with the row of the conversation whose turn they are for."""

import sqlite3
from collections.abc import Callable

from state.errors import Unacceptable
from state.sqlite.transaction import conversation_of
from state.values import Signal, SignalKind

#: The columns of a signal, as bytes: one that cannot be read is no obstacle to the others.
SIGNAL = (
    "CAST(key AS BLOB), CAST(turn AS BLOB), CAST(signal AS BLOB), "
    "CAST(coalesce(signal_by, '') AS BLOB)"
)


def signals(execute: Callable[..., sqlite3.Cursor]) -> tuple[Signal, ...]:
    """List the unfinished signals of all partitions."""
    rows = execute(f"SELECT {SIGNAL} FROM conversation WHERE signal IS NOT NULL")  # noqa: S608 (our columns)
    return tuple(found for row in rows if (found := signal_in(*row)))


def signal_in(key: bytes, turn: bytes | None, kind: bytes, by: bytes) -> Signal | None:
    """Return the signal that a row carries; None for what is none."""
    try:
        conversation, kind_ = conversation_of(key.decode()), SignalKind(kind.decode())
        return Signal(conversation, (turn or b"").decode(), kind_, by.decode())
    except (ValueError, Unacceptable):
        return None
