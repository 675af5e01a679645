"""
Who speaks next: the part that admit, claim, supersede, commit, fail and kill have in common.

Each function works on the loaded row and its transaction; who calls stores the row.
"""

from state.outcomes import Settled, Started, Turnover
from state.ports import MAX_EXPIRIES
from state.sqlite import alarms, endings, inbox, journal
from state.sqlite.records import Record, Waiting
from state.sqlite.transaction import Transaction
from state.values import Claim, Inbound, Lease, Outcome, Page, SignalKind

#: How a pending request settles a turn that nobody holds. A SUPERSEDE is left to the next holder.
ENDED_BY = {SignalKind.STOP: Outcome.STOPPED, SignalKind.KILL: Outcome.KILLED}

#: Nothing starts, and nothing was settled on the way.
NOTHING = Turnover()


def next_turn(tx: Transaction, record: Record, op: str, claim: Claim | None) -> Turnover:
    """
    Start the head of a conversation that nobody holds, settling on the way what cannot start.

    With a claim of None start nothing, settle only what was stopped, and leave a wake if anything
    is pending.
    """
    if not (record.turn or record.waiting or record.timers):
        record.wake = None
        if claim is not None:
            record.token = None
        return NOTHING
    settled = stopped(tx, record)
    if claim is None:
        record.wake = None if settled else record.wake
        leave_wake(tx, record)
        return Turnover(None, settled)
    settled += exhausted(tx, record)
    if record.turn is not None:
        return Turnover(resume(tx, record, op, claim), settled)
    endings.end_turn(tx, record)
    alarms.ring(tx, record)
    settled += expire(tx, record, tx.now - int(claim.expire_after * 1e6))
    inbounds = new_turn(tx, record)
    if not inbounds:
        record.wake = None
        leave_wake(tx, record)
        return Turnover(None, settled)
    return Turnover(grant(tx, record, op, claim, inbounds), settled)


def new_turn(tx: Transaction, record: Record) -> tuple[Inbound, ...]:
    """Make a turn of the first in line that is not held back, and of those that belong to it."""
    line = inbox.entries(tx, record)
    head = next((entry for entry in line if entry.after <= tx.now), None)
    if head is None:
        return ()
    members = [head]
    for entry in line:
        if entry is head:
            continue
        gathered = head.gather and entry.gather and entry.after <= tx.now
        if gathered or any(entry.joins == member.name for member in members):
            members.append(entry)
    begin(tx, record, members, head.at)
    return inbox.move(tx, record, members, 0)


def begin(tx: Transaction, record: Record, members: list[Waiting], admitted: int) -> None:
    """Begin a turn of *members*: the first leads it, the newest names it."""
    record.turn, record.lead = members[-1].name, members[0].author
    record.admitted, record.begun = admitted, tx.now


def leave_wake(tx: Transaction, record: Record) -> None:
    """Make the conversation due when the first of what is pending is; never later than it was."""
    times = [tx.now]
    if record.turn is None:
        times = [max(entry.after, tx.now) for entry in inbox.entries(tx, record)]
        times += alarms.first(tx, record)
    earliest = min(times, default=None)
    if earliest is not None and record.wake is not None:
        earliest = min(earliest, record.wake)
    record.wake = earliest


def stopped(tx: Transaction, record: Record) -> tuple[Settled, ...]:
    """Settle an unfinished turn that carries a stop or kill."""
    outcome = ENDED_BY.get(record.pending) if record.pending else None
    return () if outcome is None else _settle(tx, record, outcome)


def exhausted(tx: Transaction, record: Record) -> tuple[Settled, ...]:
    """Count the expiry of an unfinished turn's lease; give the turn up when it was one too many."""
    if record.turn is None:
        return ()
    if record.token is not None:  # its lease ended by expiry, not by fail, park or steal
        record.token = None
        record.expiries += 1
    if record.expiries < MAX_EXPIRIES:
        return ()
    endings.bury(tx, record, f"its lease expired {record.expiries} times without progress")
    return _settle(tx, record, Outcome.DEAD)


def _settle(tx: Transaction, record: Record, outcome: Outcome) -> tuple[Settled, ...]:
    """End the turn without running it (again)."""
    inbounds, pages = inbox.of_turn(tx, record), journal.pages(tx, record)
    settled = Settled(outcome, inbounds, record.turn, pages)
    endings.end_turn(tx, record)
    return (settled,)


def expire(tx: Transaction, record: Record, oldest: int) -> tuple[Settled, ...]:
    """Settle waiting inbounds admitted before *oldest*."""
    gone = [entry for entry in inbox.entries(tx, record) if entry.at < oldest]
    return (Settled(Outcome.EXPIRED, inbox.remove(tx, record, gone)),) if gone else ()


def resume(tx: Transaction, record: Record, op: str, claim: Claim) -> Started:
    """Give a new lease on an unfinished turn, with all that its last holders recorded."""
    pages = sorted(journal.pages(tx, record), key=by_number)
    inbounds = inbox.of_part(tx, record, 0)
    return grant(tx, record, op, claim, inbounds, pages=tuple(pages), replayed=True)


def grant(
    tx: Transaction,
    record: Record,
    op: str,
    claim: Claim,
    inbounds: tuple[Inbound, ...],
    *,
    pages: tuple[Page, ...] = (),
    replayed: bool = False,
) -> Started:
    """Give a new lease on the turn, and everything its holder needs to run or replay it."""
    token = record.token = f"{tx.number(record.conversation)}-{op}"
    record.expires = record.wake = tx.now + int(claim.seconds * 1e6)
    record.backing_off = 0
    state, version = endings.kept_state(tx, record)
    return Started(
        Lease(record.conversation, record.turn or "", token, record.expires // 1000),
        inbounds,
        steps=journal.steps(tx, record) if replayed else (),
        pages=pages,
        attempts=record.attempts,
        followups=record.followups,
        carry=journal.carried(tx, record) if replayed else None,
        signal=record.pending,
        state=state,
        state_version=version,
        waited=(tx.now - record.admitted) / 1e6,
    )


def by_number(page: Page) -> tuple[int, int]:
    """Order pages as they stand in the channel."""
    return page.number, page.issue


def successor(tx: Transaction, record: Record) -> tuple[list[Waiting], tuple[Inbound, ...]]:
    """
    Answer what moves into a turn in the place of this one, and what it takes along of this one.

    That is all of it, if the rest of it has come, or what others wrote than those whose moves.
    """
    moved = [] if record.pending in ENDED_BY else succeeding(tx, record)
    if not moved:
        return [], ()
    inbounds = inbox.of_turn(tx, record)
    heard = set() if record.rejoined else {entry.author for entry in moved}
    return moved, tuple(inbound for inbound in inbounds if inbound.author not in heard)


def succeed(
    tx: Transaction,
    record: Record,
    moved: list[Waiting],
    stays: tuple[Inbound, ...],
    carry: bytes | None,
) -> None:
    """End the turn, and put its successor, if it has one, in its place."""
    admitted = record.admitted if stays else min((entry.at for entry in moved), default=0)
    followups = record.followups + (not record.rejoined)
    endings.end_turn(tx, record)
    if not moved:
        return
    members = [Waiting.of(inbound, admitted) for inbound in stays] + moved
    begin(tx, record, members, admitted)
    inbox.move(tx, record, members, 0)
    record.followups = followups
    if carry is not None:
        journal.add(tx, record.key, "carry", "", "", carry)


def relent(tx: Transaction, record: Record) -> None:
    """Take a request to make room back, once nothing waits any more that would move."""
    if record.pending is SignalKind.SUPERSEDE and not succeeding(tx, record):
        record.signal = record.signal_by = None
        record.everyone = record.rejoined = 0


def succeeding(tx: Transaction, record: Record) -> list[Waiting]:
    """What moves into the turn after this one: its lead's or everybody's, and what continues it."""
    moved: list[Waiting] = []
    for entry in inbox.entries(tx, record):
        continues = entry.joins is not None and (
            inbox.answers(tx, record, entry.joins) or any(entry.joins == m.name for m in moved)
        )
        if record.everyone or entry.author == record.lead or continues:
            moved.append(entry)
    return moved


def rewake(tx: Transaction, record: Record) -> None:
    """Set the wake of a conversation without a turn anew; that of one with a turn stands."""
    if record.turn is None and not record.held(tx.now):
        record.wake = None
        leave_wake(tx, record)
