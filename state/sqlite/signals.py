"""Signals as they are filed: with the row of the conversation whose turn they are for."""

import sqlite3
from collections.abc import Callable

from state.sqlite.transaction import conversation_of
from state.values import Signal, SignalKind


def signals(execute: Callable[..., sqlite3.Cursor]) -> tuple[Signal, ...]:
    """List the unfinished signals of all partitions."""
    rows = execute("SELECT key, turn, signal, signal_by FROM conversation WHERE signal IS NOT NULL")
    return tuple(signal_of(*row) for row in rows)


def signal_of(key: str, turn: str, kind: str, by: str) -> Signal:
    """Return the signal that a row carries."""
    return Signal(conversation_of(key), turn, SignalKind(kind), by)
