"""
What an inbound is, decided against the stored turn: the memory adapter's half of `admit`.

The order of the rules is the order in `State.admit`.
"""

from state.memory.records import Record, Turn, Waiting
from state.outcomes import (
    Ignored,
    Placed,
    Refusal,
    Refused,
    Settled,
    Signalled,
    Superseding,
    Turnover,
)
from state.values import (
    Could,
    Inbound,
    Outcome,
    Overflow,
    Policy,
    Signal,
    SignalKind,
    StopRight,
)

Decision = Placed | Superseding | Signalled | Refused | Ignored


def decide(record: Record, inbound: Inbound, could: Could, policy: Policy, now: int) -> Decision:
    """Apply one inbound to its conversation; whoever calls then hands over."""
    turn = record.turn
    if could.stop is not StopRight.NONE and (stopped := stop(record, inbound, could)) is not None:
        return stopped
    follows = could.follow_up and turn is not None and may_follow(turn, inbound, policy)
    if not (follows or could.trigger):
        return Ignored()
    taken = append(record, inbound, policy, now)
    if isinstance(taken, Refused):
        return taken
    if follows and turn is not None:
        turn.signal = Signal(record.conversation, turn.id, SignalKind.SUPERSEDE, inbound.author)
        return Superseding(turn.id, Turnover(None, taken))
    return Placed(0, Turnover(None, taken))  # its place is told after the hand-over


def stop(record: Record, inbound: Inbound, could: Could) -> Signalled | None:
    """Stop the turn that *inbound* has a right on, else withdraw its author's waiting ones."""
    turn = record.turn
    if turn is not None and (could.stop is StopRight.ANY or turn.includes(inbound.author)):
        record.backing_off = 0  # an ended turn is settled at once, not when its retry is due
        return request(record, turn, SignalKind.STOP, inbound.author)
    withdrawn = record.withdraw(inbound.author)
    return Signalled(None, withdrawn) if withdrawn else None


def request(record: Record, turn: Turn, kind: SignalKind, by: str) -> Signalled:
    """Signal *turn*; a stop withdraws what its lead has waiting."""
    if kind.beats(turn.pending()):
        turn.signal = Signal(record.conversation, turn.id, kind, by)
    withdrawn = record.withdraw(turn.lead) if kind is SignalKind.STOP else ()
    return Signalled(turn.id, withdrawn)


def may_follow(turn: Turn, inbound: Inbound, policy: Policy) -> bool:
    """Whether *inbound* supersedes *turn*."""
    return (
        turn.lead == inbound.author
        and turn.pending() in (None, SignalKind.SUPERSEDE)
        and turn.followups < policy.max_followups
        and not (policy.early_only and turn.pages)
    )


def append(
    record: Record, inbound: Inbound, policy: Policy, now: int
) -> tuple[Settled, ...] | Refused:
    """Put *inbound* at the end of the inbox within its bounds; answer what had to make room."""
    share = sum(waiting.inbound.author == inbound.author for waiting in record.inbox)
    if share >= policy.per_person:
        return Refused(Refusal.SHARE_FULL)
    dropped: tuple[Settled, ...] = ()
    if len(record.inbox) >= policy.inbox:
        if policy.overflow is Overflow.REFUSE:
            return Refused(Refusal.INBOX_FULL)
        dropped = (Settled(Outcome.DROPPED, (record.inbox.popleft().inbound,)),)
    record.inbox.append(Waiting(inbound, now))
    return dropped
