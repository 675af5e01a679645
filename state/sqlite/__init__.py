"""The state port over one SQLite file: the embedded default."""

from state.sqlite.adapter import SqliteState

__all__ = ["SqliteState"]
