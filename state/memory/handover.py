"""
Who speaks next: the part that admit, claim, supersede, commit, fail and kill have in common.

Each function changes one record and awaits nothing, which is all that makes the steps atomic here.
"""

from collections.abc import Callable

from state.memory.records import DeadLetter, Record, Turn
from state.outcomes import (
    Entry,
    Settled,
    Started,
    Turnover,
)
from state.ports import DEAD_LETTER_LIMIT, MAX_EXPIRIES
from state.values import (
    Changes,
    Claim,
    Inbound,
    Lease,
    Outcome,
    SignalKind,
)

#: How a pending request settles a turn that nobody holds. A SUPERSEDE is left to the next holder.
ENDED_BY = {SignalKind.STOP: Outcome.STOPPED, SignalKind.KILL: Outcome.KILLED}

Numbers = Callable[[], int]


def next_turn(record: Record, op: str, claim: Claim | None, now: int, number: Numbers) -> Turnover:
    """
    Start the head of a conversation that nobody holds, settling on the way what cannot start.

    With a claim of None start nothing, and leave a wake if anything is pending.
    """
    settled: list[Settled] = []
    if claim is None:
        pending = record.turn is not None or record.inbox
        record.wake = min(now, record.wake or now) if pending else None
        return Turnover()
    while (turn := record.turn) is not None:
        if (ended := unrunnable(record, turn)) is None:
            break
        settled.append(ended)
        record.turn = None
    if record.turn is None:
        settled += expire(record, now - int(claim.expire_after * 1e6))
        if not record.inbox:
            record.wake = None
            return Turnover(None, tuple(settled))
        head = record.inbox.popleft()
        record.turn = Turn(head.inbound.id, (head.inbound,), head.at, now)
    return Turnover(grant(record, record.turn, op, claim, now, number), tuple(settled))


def unrunnable(record: Record, turn: Turn) -> Settled | None:
    """Settle an unfinished turn that must not run again: stopped, killed, or expired too often."""
    if record.token is not None:  # its lease ended by expiry, not by fail or park
        record.token = None
        turn.expiries += 1
    outcome = ENDED_BY.get(turn.signal.kind) if turn.signal else None
    if outcome is None and turn.expiries >= MAX_EXPIRIES:
        bury(record, turn, f"its lease expired {turn.expiries} times without progress")
        outcome = Outcome.DEAD
    return turn.settled(outcome) if outcome else None


def expire(record: Record, oldest: int) -> list[Settled]:
    """Settle waiting inbounds admitted before *oldest*."""
    gone: list[Inbound] = []
    while record.inbox and record.inbox[0].at < oldest:
        gone.append(record.inbox.popleft().inbound)
    return [Settled(Outcome.EXPIRED, tuple(gone))] if gone else []


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


def end_turn(record: Record) -> None:
    """Drop the turn and its lease; what comes next is the caller's."""
    record.turn = record.token = None
    record.expires = record.backing_off = 0


def write(record: Record, turn: Turn, changes: Changes, *, state: bool) -> None:
    """Write state (if *state*) and transcript, unless the conversation was reset meanwhile."""
    if turn.detached:
        return
    if state and changes.state is not None:
        record.state, record.state_version = changes.state, changes.state_version
    for payload in changes.transcript:
        record.entries += 1
        record.transcript.append(Entry(record.entries, payload))
    del record.transcript[: max(0, len(record.transcript) - changes.keep)]


def bury(record: Record, turn: Turn, error: str) -> None:
    """Keep a turn that was given up as a dead letter."""
    record.dead.append(DeadLetter(turn.all_inbounds, error, record.state))
    while len(record.dead) > DEAD_LETTER_LIMIT:
        record.dead.popleft()
