"""
Judges recorded calls: one lock a conversation, whose tokens grow and are each granted once.

Times are local monotonic seconds, which all processes of a machine share.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from chaos.kills.recorder import ASKING, ENDING
from chaos.linear import Call, linearizable

#: Seconds by which the store's clock and ours may drift apart in one lease.
DRIFT = 0.05

#: A conversation: the calls about its lock.
History = list[Call["Asked"]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One call, as it was recorded."""

    step: str
    #: The token that was shown, and the operation id, whose lease is called after it.
    token: str | None
    op: str | None
    #: Seconds of the lease that is asked for; 0 asks for none.
    seconds: float
    #: "done", "refused", or "unknown" when no answer came.
    how: str = "unknown"
    granted: str | None = None
    #: Whether another call has the same operation id.
    repeated: bool = False

    @property
    def holder(self) -> str:
        """The random part of the token that was shown."""
        return (self.token or "").partition("-")[2]


@dataclass(frozen=True, slots=True)
class Lock:
    """A state of the lock; the end of a lease lies between *ends* and *until*."""

    #: The highest number that is known to have been granted.
    number: int = 0
    #: The random part of the living token.
    holder: str | None = None
    ends: float = 0.0
    until: float = 0.0
    #: Operations that were carried out and may be repeated.
    carried_out: frozenset[str] = frozenset()


def read_histories(folder: Path, killed: Mapping[int, float]) -> dict[str, History]:
    """
    Read what all processes wrote, by conversation.

    *killed* tells when each of them was dead, and what it had sent was carried out.
    """
    histories: dict[str, History] = defaultdict(list)
    for path in sorted(folder.glob("history-*.jsonl")):
        pid = int(path.name.split("-")[1])
        for where, call in calls_of(path, killed[pid]):
            histories[where].append(call)
    return {where: marked(history) for where, history in histories.items()}


def calls_of(path: Path, at_the_latest: float) -> Iterator[tuple[str, Call[Asked]]]:
    """Read one process's calls; one without an answer may have happened until *at_the_latest*."""
    open_: dict[int, tuple[str, float, Asked]] = {}
    for line in path.read_bytes().splitlines():
        try:
            number, at, *rest = json.loads(line)
        except ValueError:
            continue  # the last, cut by the kill
        if len(rest) == 2:
            where, made, asked = open_.pop(number)
            yield where, Call(made, at, replace(asked, how=rest[0], granted=rest[1]))
        else:
            where, *what = rest
            open_[number] = (where, at, Asked(*what))
    for where, made, asked in open_.values():
        yield where, Call(made, at_the_latest, asked)


def marked(history: History) -> History:
    """Mark calls whose operation id others have, too."""
    times = Counter(call.operation.op for call in history)
    return [
        replace(call, operation=replace(call.operation, repeated=times[call.operation.op] > 1))
        for call in history
    ]


def sound(history: History) -> bool:
    """Whether the calls of one conversation are those of a lock."""
    return linearizable(history, Lock(), outcomes)


def outcomes(lock: Lock, call: Call[Asked]) -> Iterable[Lock]:
    """Where a call may lead; nothing if it cannot have happened so."""
    asked = call.operation
    if asked.op in lock.carried_out:
        return [lock]  # a repeat gets the first answer and changes nothing
    match asked.how:
        case "refused":
            held = lock.holder == asked.holder and call.done < lock.ends - DRIFT
            return [] if held else [lock]
        case "done":
            return [after for after in effects(lock, call) if fits(after, lock, asked)]
        case _:
            return [lock, *effects(lock, call)]


def fits(after: Lock, before: Lock, asked: Asked) -> bool:
    """Whether a state is the one that the answer tells of."""
    if asked.step not in ASKING | ENDING:
        return True
    if asked.granted is None:
        return after.holder is None if asked.step in ENDING else after is before
    return after.holder == asked.op and after.number > before.number


def effects(lock: Lock, call: Call[Asked]) -> Iterator[Lock]:
    """Each effect that a call may have had."""
    asked = call.operation
    holds = lock.holder == asked.holder and call.made <= lock.until + DRIFT
    if asked.step in ASKING:
        yield lock
        if lock.holder is None or call.done >= lock.ends - DRIFT:
            yield from grants(lock, call)
    elif asked.step in ENDING:
        if holds:
            yield noted(replace(lock, holder=None), asked)
            yield from grants(lock, call)
    elif holds and asked.step == "renew":
        yield replace(lock, ends=call.made + asked.seconds, until=call.done + asked.seconds)
    elif holds:
        yield lock


def grants(lock: Lock, call: Call[Asked]) -> Iterator[Lock]:
    """Grant the lease that is asked for."""
    asked = call.operation
    if asked.seconds:
        number = int(asked.granted.partition("-")[0]) if asked.granted else lock.number
        ends, until = call.made + asked.seconds, call.done + asked.seconds
        yield noted(Lock(number, asked.op, ends, until, lock.carried_out), asked)


def noted(lock: Lock, asked: Asked) -> Lock:
    """Remember an operation that may be repeated."""
    if not asked.repeated or asked.op is None:
        return lock
    return replace(lock, carried_out=lock.carried_out | {asked.op})


def with_a_token_twice(history: History) -> History | None:
    """
    Return *history* as if a failover had let the store grant one number a second time.

    None if it has no two grants that were sent once: a repeat grants nothing, so that its number
    is nobody's.
    """
    grants = [call for call in history if call.operation.granted and not call.operation.repeated]
    grants.sort(key=lambda call: call.done)
    if len(grants) < 2:
        return None
    first, second = (call.operation for call in grants[(len(grants) - 1) // 2 :][:2])
    number = (first.granted or "").partition("-")[0]
    forged = re.sub(r"^\d+", number, second.granted or "")
    tokens = {second.granted: forged}
    return [
        replace(
            call,
            operation=replace(
                call.operation,
                token=tokens.get(call.operation.token, call.operation.token),
                granted=tokens.get(call.operation.granted, call.operation.granted),
            ),
        )
        for call in history
    ]
