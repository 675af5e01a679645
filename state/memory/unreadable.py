"""What is in a database and no step put there: in memory, whatever is no record of ours."""

from collections import deque
from typing import Any, cast

from state.ids import PAYLOAD_LIMIT
from state.memory import handover
from state.memory.records import Alarm, Letter, Record, Turn, Waiting


def set_aside(record: Record, now: int) -> None:
    """Move what cannot be read to the dead letters, and let the rest go on."""
    # Not what their types say: that is what this is about.
    turn, inbox, alarms = cast(
        "tuple[Any, deque[Any], dict[str, Any]]", (record.turn, record.inbox, record.alarms)
    )
    foreign: list[tuple[str, object]] = []
    if not isinstance(turn, Turn | None):
        foreign.append(("turn", turn))
        handover.end_turn(record)
    foreign += [("message", entry) for entry in inbox if not isinstance(entry, Waiting)]
    foreign += [("timer", alarm) for alarm in alarms.values() if not isinstance(alarm, Alarm)]
    if not foreign:
        return
    record.inbox = deque(entry for entry in inbox if isinstance(entry, Waiting))
    record.alarms = {id_: a for id_, a in alarms.items() if isinstance(a, Alarm)}
    for place, (what, raw) in enumerate(foreign):
        error = f"a {what} that cannot be read"
        content = bytes(str(raw), "utf-8")[:PAYLOAD_LIMIT]
        letter = Letter(f"unreadable-{place}.{now}", (), error, None, now, content)
        handover.keep_letter(record, letter)
    handover.rewake(record, now)
