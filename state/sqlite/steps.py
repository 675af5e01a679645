"""
The steps of `state.ports.Turns` that begin and end turns, as functions of an open transaction.

A step validates before it writes, and stores the row that it loaded last of all.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Concatenate, ParamSpec, TypeVar

from state.errors import Gone, LeaseLost
from state.keys import Author
from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Duplicate,
    Held,
    Ignored,
    Lost,
    Placed,
    Refused,
    Retrying,
    Signalled,
    Superseding,
    Turnover,
)
from state.sqlite import admission, endings, handover, inbox, journal, keeping
from state.sqlite.records import Record
from state.sqlite.signals import SIGNAL, signal_in
from state.sqlite.transaction import Transaction, key_of
from state.values import Changes, Claim, Conversation, Could, Inbound, Lease, Policy

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

LeaseStep = Callable[Concatenate[Transaction, Lease, str, Arguments], Answer]


def ends_lease(step: LeaseStep[Arguments, Answer]) -> LeaseStep[Arguments, Answer]:
    """
    Answer a repeat of a step that ends its lease.

    Whoever holds the lease has not done it yet, so the search is left to those that do not.
    """

    def once(
        tx: Transaction, lease: Lease, op: str, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Answer:
        try:
            return step(tx, lease, op, *args, **kwargs)
        except (LeaseLost, Gone):
            first: Answer | None = tx.first_answer(lease.conversation, op)
            if first is None:
                raise
            return first

    return once


def admit(
    tx: Transaction,
    conversation: Conversation,
    inbound: Inbound,
    could: Could,
    policy: Policy,
    op: str,
    claim: Claim | None,
) -> Admission:
    """See `State.admit`."""
    tx.refuse_target(Author(inbound.author))
    record = tx.load(conversation)
    decision: Admission
    if tx.mark_seen(conversation, inbound.id):
        decision = _admitted(tx, record, inbound, could, policy, op, claim)
        tx.store(record)
    else:
        # Only an inbound that was seen can be a repeat, so that a new one is spared the search.
        first: Admission | None = tx.first_answer(conversation, op, inbound)
        if first is not None:
            return first
        decision = Duplicate(record.turn)
    tx.remember(conversation, op, decision, inbound)
    return decision


def _admitted(
    tx: Transaction,
    record: Record,
    inbound: Inbound,
    could: Could,
    policy: Policy,
    op: str,
    claim: Claim | None,
) -> Admission:
    """Decide what a new inbound is, and hand over unless somebody speaks or the head backs off."""
    decision = admission.decide(tx, record, inbound, could, policy)
    if isinstance(decision, Ignored | Refused):
        return decision
    handover.relent(tx, record)
    if record.held(tx.now) or record.backing_off > tx.now:
        turnover = handover.NOTHING
    else:
        turnover = handover.next_turn(tx, record, op, claim)
    if isinstance(decision, Superseding | Signalled):
        tx.publish(record)
    if decision.turnover.settled:
        settled = decision.turnover.settled + turnover.settled
        turnover = Turnover(turnover.started, settled)
    if isinstance(decision, Placed):
        return Placed(_place_of(inbound, record), turnover)
    return replace(decision, turnover=turnover)


def _place_of(inbound: Inbound, record: Record) -> int:
    """Count what is ahead of the newest inbound, now that the hand-over is done."""
    if record.turn == inbound.id:
        return 0
    return record.waiting - 1 + (record.turn is not None)


def claim(tx: Transaction, conversation: Conversation, op: str, claim: Claim) -> Turnover | Busy:
    """See `State.claim`."""
    first: Turnover | Busy | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    until = max(record.expires if record.held(tx.now) else 0, record.backing_off)
    if until > tx.now:
        return Busy((until - tx.now) / 1e6)
    return hand_over(tx, record, op, claim)


def hand_over(tx: Transaction, record: Record, op: str, claim: Claim | None) -> Turnover:
    """End a step with a hand-over: store what it changed, and remember the answer."""
    turnover = handover.next_turn(tx, record, op, claim)
    tx.store(record)
    tx.remember(record.conversation, op, turnover)
    return turnover


#: With the signal as bytes: one that cannot be read costs nobody else a lease.
RENEW = (
    "UPDATE conversation SET expires = ?, wake = ? WHERE key = ? AND token = ? AND expires > ? "  # noqa: S608 (our columns)
    f"RETURNING {SIGNAL}"
)


def renew(tx: Transaction, lease: Lease, seconds: float) -> Held | Lost:
    """See `State.renew`; one lease of the many."""
    if tx.is_gone(lease.conversation):
        return Lost()
    until = tx.now + int(seconds * 1e6)
    found = tx.execute(
        RENEW,
        (until, until, key_of(lease.conversation), lease.token, tx.now),
    ).fetchone()
    if found is None:
        return Lost()
    signal = None if found[2] is None else signal_in(*found)
    return Held(signal.kind, signal.by) if signal else Held()


@ends_lease
def supersede(
    tx: Transaction,
    lease: Lease,
    op: str,
    claim: Claim,
    carry: bytes | None,
    changes: Changes | None,
) -> Turnover:
    """See `State.supersede`."""
    record = tx.holding(lease)
    moved, stays = handover.successor(tx, record)
    if changes is not None:
        endings.write(tx, record, changes, state=False, but=stays)
        keeping.use(tx, record.conversation.owner, changes)
    handover.succeed(tx, record, moved, stays, carry)
    return hand_over(tx, record, op, claim)


def take(tx: Transaction, lease: Lease, key: str, author: str | None) -> tuple[Inbound, ...]:
    """See `State.take`."""
    record = tx.holding(lease)
    found = tx.execute(
        "SELECT key FROM journal WHERE conversation = ? AND kind = 'take' AND name = ?",
        (record.key, key),
    ).fetchone()
    if found is not None:
        return inbox.of_part(tx, record, int(found[0]))
    (takes,) = tx.execute(
        "SELECT count(*) FROM journal WHERE conversation = ? AND kind = 'take'", (record.key,)
    ).fetchone()
    journal.add(tx, record.key, "take", key, str(takes + 1), b"")
    moved = inbox.move(tx, record, inbox.of_author(tx, record, author), takes + 1)
    handover.relent(tx, record)
    tx.store(record)
    return moved


@ends_lease
def commit(
    tx: Transaction, lease: Lease, op: str, changes: Changes, claim: Claim | None
) -> Turnover | Drift:
    """See `State.commit`."""
    record = tx.holding(lease)
    if changes.asked is not None:
        recorded = ((step.name, step.key) for step in journal.steps(tx, record))
        unasked = tuple(name for name in recorded if name not in changes.asked)
        if unasked:
            return Drift(unasked)
    endings.write(tx, record, changes, state=True)
    keeping.write_beside(tx, record.conversation.owner, changes)
    endings.end_turn(tx, record)
    return hand_over(tx, record, op, claim)


@ends_lease
def fail(
    tx: Transaction,
    lease: Lease,
    op: str,
    error: str,
    changes: Changes,
    retry_in: float | None,
    limit: int,
    claim: Claim | None,
) -> Turnover | Retrying:
    """See `State.fail`."""
    record = tx.holding(lease)
    keeping.use(tx, record.conversation.owner, changes)
    record.attempts += 1
    ended = record.pending in handover.ENDED_BY
    if retry_in is not None and record.attempts < limit and not ended:
        record.token, record.expires = None, 0
        record.wake = record.backing_off = tx.now + int(retry_in * 1e6)
        retrying = Retrying(record.attempts, retry_in)
        tx.store(record)
        tx.remember(lease.conversation, op, retrying)
        return retrying
    endings.write(tx, record, changes, state=False)
    if not ended:  # else the hand-over settles it, as that of a dead holder would
        endings.bury(tx, record, error)
        endings.end_turn(tx, record)
    return hand_over(tx, record, op, claim)


@ends_lease
def park(tx: Transaction, lease: Lease, op: str) -> None:
    """See `State.park`."""
    record = tx.holding(lease)
    record.token, record.expires, record.wake = None, 0, tx.now
    tx.store(record)
    tx.remember(lease.conversation, op, handover.NOTHING)


# --- the conversation as a whole ----------------------------------------------------------------


def acquire(tx: Transaction, conversation: Conversation, op: str, claim: Claim) -> Lease | Busy:
    """See `State.acquire`."""
    first: Lease | Busy | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    if record.held(tx.now) or record.turn is not None:
        return _busy(tx, record)
    token = record.token = f"{tx.number(conversation)}-{op}"
    record.expires = record.wake = tx.now + int(claim.seconds * 1e6)
    lease = Lease(conversation, "", token, record.expires // 1000)
    tx.store(record)
    tx.remember(conversation, op, lease)
    return lease


def _busy(tx: Transaction, record: Record) -> Busy:
    until = max(record.expires if record.held(tx.now) else tx.now, record.backing_off)
    return Busy((until - tx.now) / 1e6)


@ends_lease
def release(tx: Transaction, lease: Lease, op: str, claim: Claim | None) -> Turnover:
    """See `State.release`."""
    record = tx.living(lease)
    if record.turn is not None:
        raise LeaseLost(f"conversation {lease.conversation.id}: the lease was not acquired")
    endings.end_turn(tx, record)
    return hand_over(tx, record, op, claim)


def steal(
    tx: Transaction, conversation: Conversation, token: str, op: str, claim: Claim
) -> Turnover | Busy:
    """See `State.steal`."""
    first: Turnover | Busy | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    if record.token != token:
        return _busy(tx, record)
    record.token = None  # so that the hand-over counts no expiry
    return hand_over(tx, record, op, claim)
