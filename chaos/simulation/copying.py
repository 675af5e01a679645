"""Copies of a database in memory, as a backup or a replica that lags behind has them."""

from collections import deque
from dataclasses import replace

from state.memory import Database
from state.memory.records import Record, Turn


def copied(database: Database) -> Database:
    """Return a copy that changes on its own. What is kept beside conversations is not in it."""
    copy = Database(database.partitions)
    copy.records = {conversation: _record(r) for conversation, r in database.records.items()}
    copy.counters = list(database.counters)
    copy.seen = dict(database.seen)
    copy.beats = dict(database.beats)
    copy.answers = dict(database.answers)
    return copy


def _record(record: Record) -> Record:
    return replace(
        record,
        inbox=deque(replace(waiting) for waiting in record.inbox),
        turn=_turn(record.turn) if record.turn else None,
        transcript=list(record.transcript),
        dead=deque(record.dead),
        given=dict(record.given),
        alarms={id_: replace(alarm) for id_, alarm in record.alarms.items()},
    )


def _turn(turn: Turn) -> Turn:
    return replace(turn, steps=dict(turn.steps), pages=dict(turn.pages), taken=dict(turn.taken))
