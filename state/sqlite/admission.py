"""
What an inbound is, decided against the stored turn: this adapter's half of `admit`.

The order of the rules is the order in `State.admit`.
"""

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
from state.sqlite import inbox, journal
from state.sqlite.records import Record, Transaction
from state.values import Could, Inbound, Outcome, Overflow, Policy, SignalKind, StopRight

Decision = Placed | Superseding | Signalled | Refused | Ignored


def decide(
    tx: Transaction, record: Record, inbound: Inbound, could: Could, policy: Policy
) -> Decision:
    """Apply one inbound to its conversation; whoever calls then hands over."""
    if could.stop is not StopRight.NONE:
        stopped = stop(tx, record, inbound, could)
        if stopped is not None:
            return stopped
    follows = could.follow_up and may_follow(tx, record, inbound, policy)
    if not (follows or could.trigger):
        return Ignored()
    taken = append(tx, record, inbound, policy)
    if isinstance(taken, Refused):
        return taken
    if follows and record.turn is not None:
        record.signal, record.signal_by = SignalKind.SUPERSEDE.value, inbound.author
        return Superseding(record.turn, Turnover(None, taken))
    return Placed(0, Turnover(None, taken))  # its place is told after the hand-over


def stop(tx: Transaction, record: Record, inbound: Inbound, could: Could) -> Signalled | None:
    """Stop the turn that *inbound* has a right on, else withdraw its author's waiting ones."""
    if record.turn is not None and (
        could.stop is StopRight.ANY or inbox.includes(tx, record, inbound.author)
    ):
        record.backing_off = 0  # an ended turn is settled at once, not when its retry is due
        return request(tx, record, SignalKind.STOP, inbound.author)
    withdrawn = inbox.withdraw(tx, record, inbound.author)
    return Signalled(None, withdrawn) if withdrawn else None


def request(tx: Transaction, record: Record, kind: SignalKind, by: str) -> Signalled:
    """Signal the turn; a stop withdraws what its lead has waiting."""
    if kind.beats(record.pending):
        record.signal, record.signal_by = kind.value, by
    stops = kind is SignalKind.STOP
    return Signalled(record.turn, inbox.withdraw(tx, record, record.lead) if stops else ())


def may_follow(tx: Transaction, record: Record, inbound: Inbound, policy: Policy) -> bool:
    """Whether *inbound* supersedes the turn."""
    return (
        record.turn is not None
        and record.lead == inbound.author
        and record.pending in (None, SignalKind.SUPERSEDE)
        and record.followups < policy.max_followups
        and not (policy.early_only and journal.pages(tx, record))
    )


def append(
    tx: Transaction, record: Record, inbound: Inbound, policy: Policy
) -> tuple[Settled, ...] | Refused:
    """Put *inbound* at the end of the inbox within its bounds; answer what had to make room."""
    if inbox.share(tx, record, inbound.author) >= policy.per_person:
        return Refused(Refusal.SHARE_FULL)
    dropped: tuple[Settled, ...] = ()
    if record.waiting >= policy.inbox:
        if policy.overflow is Overflow.REFUSE:
            return Refused(Refusal.INBOX_FULL)
        _, oldest = inbox.pop(tx, record, tx.now + 1)
        dropped = (Settled(Outcome.DROPPED, (oldest,)),)
    record.arriving = inbound
    record.waiting += 1
    return dropped
