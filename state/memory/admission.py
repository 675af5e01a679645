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
    follows = turn is not None and follow(turn, inbound, could, policy)
    if not (follows or could.trigger):
        return Ignored()
    if policy.drop and not follows and (turn is not None or record.inbox):
        return Refused(Refusal.BUSY)
    taken = append(record, inbound, could, policy, now)
    if isinstance(taken, Refused):
        return taken
    if follows and turn is not None:
        supersede(record, turn, inbound, could, policy)
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


def follow(turn: Turn, inbound: Inbound, could: Could, policy: Policy) -> bool:
    """Whether *inbound* supersedes *turn*: as its rest, as an interruption or as a follow-up."""
    if turn.pending() not in (None, SignalKind.SUPERSEDE):
        return False
    if rejoins(turn, could) or (policy.interrupt and could.trigger):
        return True
    return (
        could.follow_up
        and turn.lead == inbound.author
        and turn.followups < policy.max_followups
        and not (policy.early_only and turn.pages)
    )


def rejoins(turn: Turn, could: Could) -> bool:
    """Whether the inbound continues one that *turn* already answers."""
    return could.joins is not None and any(i.id == could.joins for i in turn.all_inbounds)


def supersede(record: Record, turn: Turn, inbound: Inbound, could: Could, policy: Policy) -> None:
    """Ask *turn* to make room, and note what its successor takes along."""
    turn.signal = Signal(record.conversation, turn.id, SignalKind.SUPERSEDE, inbound.author)
    turn.everyone = turn.everyone or policy.interrupt
    turn.rejoined = turn.rejoined or rejoins(turn, could)


def append(
    record: Record, inbound: Inbound, could: Could, policy: Policy, now: int
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
    after = now + int(policy.not_before * 1e6) if policy.not_before else 0
    record.inbox.append(Waiting(inbound, now, after, policy.gather, could.joins))
    if policy.quiet and record.turn is None:
        keep_quiet(record, policy, now)
    return dropped


def keep_quiet(record: Record, policy: Policy, now: int) -> None:
    """Hold all that gathers back for another quiet period, within the longest since the oldest."""
    gathering = [entry for entry in record.inbox if entry.gather]
    if gathering:
        most = gathering[0].at + int(policy.quiet_most * 1e6)
        until = min(now + int(policy.quiet * 1e6), most)
        for entry in gathering:
            entry.after = until
        if not record.held(now):
            record.wake = None  # the one wake that an admit may delay; the hand-over sets it anew
