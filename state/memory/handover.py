"""
Who speaks next: the part that admit, claim, supersede, commit, fail and kill have in common.

Each function changes one record and awaits nothing, which is all that makes the steps atomic here.
"""

from collections import deque
from collections.abc import Callable
from itertools import chain, repeat

from state.memory.records import Alarm, Letter, Line, Record, Turn, Waiting
from state.outcomes import (
    Entry,
    Settled,
    Started,
    Turnover,
)
from state.ports import CATCH_UP_LIMIT, DEAD_LETTER_LIMIT, MAX_EXPIRIES
from state.values import (
    CatchUp,
    Changes,
    Claim,
    Inbound,
    Lease,
    Outcome,
    SignalKind,
    Timer,
)

#: How a pending request settles a turn that nobody holds. A SUPERSEDE is left to the next holder.
ENDED_BY = {SignalKind.STOP: Outcome.STOPPED, SignalKind.KILL: Outcome.KILLED}

Numbers = Callable[[], int]


def next_turn(record: Record, op: str, claim: Claim | None, now: int, number: Numbers) -> Turnover:
    """
    Start the head of a conversation that nobody holds, settling on the way what cannot start.

    With a claim of None start nothing, settle only what was stopped, and leave a wake if anything
    is pending.
    """
    settled = stopped(record)
    if claim is None:
        record.wake = None if settled else record.wake
        leave_wake(record, now)
        return Turnover(None, settled)
    settled += exhausted(record, now)
    if record.turn is None:
        record.token = None
        ring(record, now)
        settled += expire(record, now - int(claim.expire_after * 1e6))
        record.turn = new_turn(record, now)
    if record.turn is None:
        record.wake = None
        leave_wake(record, now)
        return Turnover(None, settled)
    return Turnover(grant(record, record.turn, op, claim, now, number), settled)


def new_turn(record: Record, now: int) -> Turn | None:
    """Make a turn of the oldest inbound that is not held back, and of those that belong to it."""
    head = next((entry for entry in record.inbox if entry.after <= now), None)
    if head is None:
        return None
    members = [head]
    for entry in record.inbox:
        gathered = head.gather and entry.gather and entry.after <= now
        joined = any(entry.joins == member.inbound.id for member in members)
        if entry is not head and (gathered or joined):
            members.append(entry)
    record.inbox = deque(e for e in record.inbox if all(e is not m for m in members))
    inbounds = tuple(member.inbound for member in members)
    return Turn(inbounds[-1].id, inbounds, head.at, now)


def leave_wake(record: Record, now: int) -> None:
    """Let nobody's conversation be due when the first of what is pending is; never later."""
    if record.turn is not None:
        times = [now]
    else:
        times = [max(entry.after, now) for entry in record.inbox]
        times += [alarm.due for alarm in record.alarms.values()]
    earliest = min(times, default=None)
    pending = earliest is not None and record.wake is not None
    record.wake = min(record.wake or 0, earliest or 0) if pending else earliest


def rewake(record: Record, now: int) -> None:
    """Set the wake of a conversation anew, unless it has a turn or is held."""
    if record.turn is None and not record.held(now):
        record.wake = None
        leave_wake(record, now)


def ring(record: Record, now: int) -> None:
    """Promote due timers to inbounds, and set the next occurrence of the recurring ones."""
    due = sorted((a for a in record.alarms.values() if a.due <= now), key=lambda a: a.due)
    for alarm in due:
        for occurrence in occurrences(alarm, now):
            inbound = alarm.timer.inbound
            id_ = f"{alarm.timer.id}@{alarm.generation}.{occurrence}"
            record.inbox.append(Waiting(Inbound(id_, inbound.author, inbound.payload), now))
        if alarm.timer.every is None:
            del record.alarms[alarm.timer.id]


def occurrences(alarm: Alarm, now: int) -> list[int]:
    """The numbers of the occurrences to promote now; the alarm moves on along its cadence."""
    every = alarm.timer.every
    if every is None:
        return [alarm.occurrence]
    step = int(every * 1e6)
    missed = (now - alarm.due) // step + 1
    numbers = range(alarm.occurrence, alarm.occurrence + missed)
    alarm.occurrence += missed
    alarm.due += missed * step
    each = alarm.timer.catch_up is CatchUp.EACH
    return list(numbers)[-CATCH_UP_LIMIT:] if each else [numbers[-1]]


def set_alarm(record: Record, timer: Timer, now: int) -> int:
    """Set *timer*, replacing one of its id; answer its generation."""
    earlier = record.alarms.get(timer.id)
    generation = earlier.generation + 1 if earlier else now
    record.alarms[timer.id] = Alarm(timer, generation, now + int(timer.delay * 1e6))
    return generation


def stopped(record: Record) -> tuple[Settled, ...]:
    """Settle an unfinished turn that carries a stop or kill."""
    turn = record.turn
    outcome = ENDED_BY.get(turn.signal.kind) if turn and turn.signal else None
    if turn is None or outcome is None:
        return ()
    end_turn(record)
    return (turn.settled(outcome),)


def exhausted(record: Record, now: int) -> tuple[Settled, ...]:
    """Count the expiry of an unfinished turn's lease; give the turn up when it was one too many."""
    turn = record.turn
    if turn is None:
        return ()
    if record.token is not None:  # its lease ended by expiry, not by fail, park or steal
        record.token = None
        turn.expiries += 1
    if turn.expiries < MAX_EXPIRIES:
        return ()
    bury(record, turn, f"its lease expired {turn.expiries} times without progress", now)
    end_turn(record)
    return (turn.settled(Outcome.DEAD),)


def expire(record: Record, oldest: int) -> tuple[Settled, ...]:
    """Settle waiting inbounds admitted before *oldest*."""
    gone = tuple(entry.inbound for entry in record.inbox if entry.at < oldest)
    record.inbox = deque(entry for entry in record.inbox if entry.at >= oldest)
    return (Settled(Outcome.EXPIRED, gone),) if gone else ()


def grant(record: Record, turn: Turn, op: str, claim: Claim, now: int, number: Numbers) -> Started:
    """Give a new lease on *turn*, and everything its holder needs to run or replay it."""
    record.token = f"{number()}-{op}"
    record.expires = record.wake = now + int(claim.seconds * 1e6)
    record.backing_off = 0
    return Started(
        Lease(record.conversation, turn.id, record.token, record.expires // 1000),
        turn.inbounds,
        steps=tuple(turn.steps.values()),
        pages=tuple(turn.pages[key] for key in sorted(turn.pages)),
        attempts=turn.attempts,
        followups=turn.followups,
        carry=turn.carry,
        signal=turn.pending(),
        state=record.state,
        state_version=record.state_version,
        waited=(now - turn.admitted) / 1e6,
    )


def successor(record: Record, turn: Turn, carry: bytes | None, now: int) -> Turn | None:
    """Make the turn that takes the place of *turn*, of what waits for it; None if nothing does."""
    if turn.pending() in ENDED_BY:
        return None
    moved = succeeding(record, turn)
    if not moved:
        return None
    record.inbox = deque(e for e in record.inbox if all(e is not m for m in moved))
    again = staying(turn, moved)
    admitted = turn.admitted if again else min(entry.at for entry in moved)
    inbounds = tuple(entry.inbound for entry in moved)
    after = Turn(inbounds[-1].id, (*again, *inbounds), admitted, now)
    after.followups = turn.followups + (not turn.rejoined)
    after.carry = carry
    return after


def staying(turn: Turn, moved: list[Waiting]) -> tuple[Inbound, ...]:
    """What *turn* was to answer and its successor still is: all of it, or what others wrote."""
    if turn.rejoined:
        return turn.all_inbounds
    heard = {entry.inbound.author for entry in moved}
    return tuple(inbound for inbound in turn.all_inbounds if inbound.author not in heard)


def relent(record: Record) -> None:
    """Take a request to make room back, once nothing waits any more that would move."""
    turn = record.turn
    if turn is not None and turn.pending() is SignalKind.SUPERSEDE and not succeeding(record, turn):
        turn.signal, turn.everyone, turn.rejoined = None, False, False


def succeeding(record: Record, turn: Turn) -> list[Waiting]:
    """What moves into the turn after *turn*: its lead's or everybody's, and what continues it."""
    answered = {inbound.id for inbound in turn.all_inbounds}
    moved: list[Waiting] = []
    for entry in record.inbox:
        if turn.everyone or entry.inbound.author == turn.lead or entry.joins in answered:
            moved.append(entry)
            answered.add(entry.inbound.id)
    return moved


def end_turn(record: Record) -> None:
    """Drop the turn and its lease; what comes next is the caller's."""
    record.turn = record.token = None
    record.expires = record.backing_off = 0


def write(
    record: Record,
    turn: Turn,
    changes: Changes,
    now: int,
    *,
    state: bool,
    but: tuple[Inbound, ...] = (),
) -> None:
    """
    Write timers, answer (except to those in *but*), the transcript and (if *state*) state.

    State and transcript only unless the conversation was reset meanwhile.
    """
    if changes.answer is not None:
        for inbound in (one for one in turn.all_inbounds if one not in but):
            record.given.setdefault(inbound.id, (now, changes.answer))
    for gone in changes.unschedule:
        record.alarms.pop(gone, None)
    for timer in changes.timers:
        set_alarm(record, timer, now)
    if turn.detached:
        return
    if state and changes.state is not None:
        record.state, record.state_version = changes.state, changes.state_version
    for payload, author in zip(changes.transcript, chain(changes.authors, repeat(""))):  # noqa: B905
        record.entries += 1
        record.transcript.append(Line(Entry(record.entries, payload), author))
    del record.transcript[: max(0, len(record.transcript) - changes.keep)]


def bury(record: Record, turn: Turn, error: str, now: int) -> None:
    """Keep a turn that was given up as a dead letter, named after the turn and the time."""
    id_ = f"{turn.id}.{now}"
    keep_letter(record, Letter(id_, turn.all_inbounds, error, record.state, now))


def keep_letter(record: Record, letter: Letter) -> None:
    """Keep a dead letter, within the limit."""
    record.dead.append(letter)
    while len(record.dead) > DEAD_LETTER_LIMIT:
        record.dead.popleft()
