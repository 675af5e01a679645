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
from state.sqlite.handover import NOTHING
from state.sqlite.records import Record, Waiting
from state.sqlite.transaction import Transaction
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
    follows = follow(tx, record, inbound, could, policy)
    if not (follows or could.trigger):
        return Ignored()
    if policy.drop and not follows and (record.turn is not None or record.waiting):
        return Refused(Refusal.BUSY)
    taken = append(tx, record, inbound, could, policy)
    if isinstance(taken, Refused):
        return taken
    if follows and record.turn is not None:
        rejoined = rejoins(tx, record, could)
        supersede(record, inbound, everyone=policy.interrupt, rejoined=rejoined)
        return Superseding(record.turn, taken)
    return Placed(0, taken)  # its place is told after the hand-over


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


def follow(tx: Transaction, record: Record, inbound: Inbound, could: Could, policy: Policy) -> bool:
    """Whether *inbound* supersedes the turn: as its rest, an interruption or a follow-up."""
    if record.turn is None or record.pending not in (None, SignalKind.SUPERSEDE):
        return False
    if (policy.interrupt and could.trigger) or rejoins(tx, record, could):
        return True
    return (
        could.follow_up
        and record.lead == inbound.author
        and record.followups < policy.max_followups
        and not (policy.early_only and journal.pages(tx, record))
    )


def rejoins(tx: Transaction, record: Record, could: Could) -> bool:
    """Whether the inbound continues one that the turn already answers."""
    return could.joins is not None and inbox.answers(tx, record, could.joins)


def supersede(record: Record, inbound: Inbound, *, everyone: bool, rejoined: bool) -> None:
    """Ask the turn to make room, and note what its successor takes along."""
    record.signal, record.signal_by = SignalKind.SUPERSEDE.value, inbound.author
    record.everyone = int(record.everyone or everyone)
    record.rejoined = int(record.rejoined or rejoined)


def append(
    tx: Transaction, record: Record, inbound: Inbound, could: Could, policy: Policy
) -> Turnover | Refused:
    """Put *inbound* at the end of the inbox within its bounds; answer what had to make room."""
    if len(inbox.of_author(tx, record, inbound.author)) >= policy.per_person:
        return Refused(Refusal.SHARE_FULL)
    dropped = NOTHING
    if record.waiting >= policy.inbox:
        if policy.overflow is Overflow.REFUSE:
            return Refused(Refusal.INBOX_FULL)
        oldest = inbox.entries(tx, record)[:1]
        gone = Settled(Outcome.DROPPED, inbox.remove(tx, record, oldest))
        dropped = Turnover(None, (gone,))
    entry = Waiting.of(inbound, tx.now)
    entry.after = tx.now + int(policy.not_before * 1e6) if policy.not_before else 0
    entry.gather, entry.joins = int(policy.gather), could.joins
    inbox.append(tx, record, entry)
    if policy.quiet and record.turn is None:
        keep_quiet(tx, record, policy)
    return dropped


def keep_quiet(tx: Transaction, record: Record, policy: Policy) -> None:
    """Hold all that gathers back for another quiet period, within the longest since the oldest."""
    gathering = [entry for entry in inbox.entries(tx, record) if entry.gather]
    if not gathering:
        return
    most = gathering[0].at + int(policy.quiet_most * 1e6)
    until = min(tx.now + int(policy.quiet * 1e6), most)
    for entry in gathering:
        entry.after = until
    tx.execute(
        "UPDATE inbound SET after = ? WHERE conversation = ? AND part IS NULL AND gather = 1",
        (until, record.key),
    )
    if not record.held(tx.now):
        record.wake = None  # the one wake that an admit may delay; the hand-over sets it anew
