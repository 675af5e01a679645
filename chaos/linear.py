"""
Look for an order in which every recorded call could have happened at one moment of its own.

The search of Wing and Gong with Lowe's memory of states that led nowhere: calls are taken in the
order in which they began; a return that is met first means that some call before it was taken
wrongly. One object at a time; whoever has many objects checks each alone.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Operation = TypeVar("Operation")
State = TypeVar("State", bound=Hashable)

#: Looks at one history, after which it is given up. Relation: a sound one needs a few a call.
PATIENCE = 20_000_000


class GaveUp(Exception):
    """A history is too tangled to be judged."""


@dataclass(frozen=True, slots=True)
class Call(Generic[Operation]):
    """One call: when it was made, by when it had happened, and what it was."""

    made: float
    done: float
    operation: Operation


class Entry:
    """A call's beginning or its end in the list of all; a beginning knows its end."""

    __slots__ = ("after", "at", "before", "end")

    def __init__(self, at: int, end: "Entry | None") -> None:
        self.at, self.end = at, end
        self.before: Entry | None = None
        self.after: Entry | None = None

    def lift(self) -> None:
        """Take a call out of the list."""
        assert self.end is not None  # noqa: S101 (only beginnings are lifted)
        for entry in (self, self.end):
            if entry.before is not None:
                entry.before.after = entry.after
            if entry.after is not None:
                entry.after.before = entry.before

    def put_back(self) -> None:
        """Put it where it was, in the reverse order."""
        assert self.end is not None  # noqa: S101
        for entry in (self.end, self):
            if entry.before is not None:
                entry.before.after = entry
            if entry.after is not None:
                entry.after.before = entry


def linearizable(
    calls: Sequence[Call[Operation]],
    initial: State,
    outcomes: Callable[[State, Call[Operation]], Iterable[State]],
) -> bool:
    """
    Search an order of *calls*; whether there is one.

    *outcomes* gives each state that a call may lead to, none when it cannot happen in that state.
    Raise `GaveUp` when it takes too long to say.
    """
    head = listed(calls)
    state, taken = initial, 0
    known: set[tuple[int, State]] = set()
    #: What was taken, in order, with the state before and the outcomes that are left to try.
    path: list[tuple[Entry, State, list[State]]] = []
    entry, options = head.after, None
    for _ in range(PATIENCE):
        if entry is None:
            return True
        if entry.end is not None:
            left = list(outcomes(state, calls[entry.at])) if options is None else options
            options = None
            while left:
                into = left.pop()
                mark = (taken | 1 << entry.at, into)
                if mark not in known:
                    known.add(mark)
                    path.append((entry, state, left))
                    taken, state = mark
                    entry.lift()
                    entry = head
                    break
            entry = entry.after
        else:
            if not path:
                return False
            entry, state, options = path.pop()
            taken ^= 1 << entry.at
            entry.put_back()
    raise GaveUp(f"{len(calls)} calls")


def listed(calls: Sequence[Call[Operation]]) -> Entry:
    """Link the beginnings and ends of all calls by time; answer the entry before the first."""
    ends = [Entry(at, None) for at in range(len(calls))]
    begins = [Entry(at, ends[at]) for at in range(len(calls))]
    # At one moment beginnings come first, so that calls that only touch count as overlapping.
    timed = [(call.made, 0, begins[at]) for at, call in enumerate(calls)]
    timed += [(call.done, 1, ends[at]) for at, call in enumerate(calls)]
    head = last = Entry(-1, None)
    for _, _, entry in sorted(timed, key=lambda one: one[:2]):
        last.after, entry.before = entry, last
        last = entry
    return head
