"""
The steps of `state.ports.State`, each a function of an open transaction.

A step validates before it writes and stores the row that it loaded last.
"""

from dataclasses import replace

from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Duplicate,
    Held,
    Ignored,
    Killed,
    Lost,
    NotRunning,
    Placed,
    Refused,
    Retrying,
    Signalled,
    Superseding,
    Turnover,
)
from state.sqlite import admission, handover, inbox
from state.sqlite.records import Record, Transaction, key_of
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Page,
    Policy,
    SignalKind,
)

# --- admission and hand-over --------------------------------------------------------------------


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
    first: Admission | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    decision: Admission
    if tx.mark_seen(conversation, inbound.id):
        decision = _admitted(tx, record, inbound, could, policy, op, claim)
        tx.store(record)
    else:
        decision = Duplicate(record.turn)
    tx.remember(conversation, op, decision)
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
    if record.held(tx.now) or record.backing_off > tx.now:
        turnover = Turnover()
    else:
        turnover = handover.next_turn(tx, record, op, claim)
    if isinstance(decision, Superseding | Signalled):
        tx.publish(record)
    settled = (*decision.turnover.settled, *turnover.settled)
    decision = replace(decision, turnover=Turnover(turnover.started, settled))
    if isinstance(decision, Placed):
        decision = replace(decision, place=_place_of(inbound, record))
    return decision


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
    turnover = handover.next_turn(tx, record, op, claim)
    tx.store(record)
    tx.remember(conversation, op, turnover)
    return turnover


def renew(tx: Transaction, lease: Lease, seconds: float) -> Held | Lost:
    """See `State.renew`; one lease of the many."""
    until = tx.now + int(seconds * 1e6)
    found = tx.execute(
        "UPDATE conversation SET expires = ?, wake = ? WHERE key = ? AND token = ? AND expires > ? "
        "RETURNING signal, signal_by",
        (until, until, key_of(lease.conversation), lease.token, tx.now),
    ).fetchone()
    if found is None:
        return Lost()
    signal, by = found
    return Held(SignalKind(signal), by) if signal else Held()


def supersede(
    tx: Transaction,
    lease: Lease,
    op: str,
    claim: Claim,
    carry: bytes | None,
    changes: Changes | None,
) -> Turnover:
    """See `State.supersede`."""
    first: Turnover | None = tx.first_answer(lease.conversation, op)
    if first is not None:
        return first
    record = tx.holding(lease)
    if changes is not None:
        handover.write(tx, record, changes, state=False)
    lead, followups = record.lead, record.followups
    ended = record.pending in handover.ENDED_BY
    (admitted,) = tx.execute(
        "SELECT min(at) FROM inbound WHERE conversation = ? AND part IS NULL AND author = ?",
        (record.id, lead),
    ).fetchone()
    handover.end_turn(tx, record)
    moved = () if ended else inbox.move(tx, record, lead, 0)
    if moved:
        handover.begin(tx, record, moved[-1], admitted)
        record.followups = followups + 1
        if carry is not None:
            _journal(tx, record, "carry", "", "", carry)
    turnover = handover.next_turn(tx, record, op, claim)
    tx.store(record)
    tx.remember(lease.conversation, op, turnover)
    return turnover


def commit(
    tx: Transaction, lease: Lease, changes: Changes, op: str, claim: Claim | None
) -> Turnover | Drift:
    """See `State.commit`."""
    first: Turnover | Drift | None = tx.first_answer(lease.conversation, op)
    if first is not None:
        return first
    record = tx.holding(lease)
    if changes.asked is not None:
        recorded = ((step.name, step.key) for step in inbox.steps(tx, record))
        unasked = tuple(name for name in recorded if name not in changes.asked)
        if unasked:
            return Drift(unasked)
    handover.write(tx, record, changes, state=True)
    return _hand_over(tx, record, lease, op, claim)


def fail(
    tx: Transaction,
    lease: Lease,
    error: str,
    changes: Changes,
    retry_in: float | None,
    limit: int,
    op: str,
    claim: Claim | None,
) -> Turnover | Retrying:
    """See `State.fail`."""
    first: Turnover | Retrying | None = tx.first_answer(lease.conversation, op)
    if first is not None:
        return first
    record = tx.holding(lease)
    record.attempts += 1
    if retry_in is not None and record.attempts < limit:
        record.token, record.expires = None, 0
        record.wake = record.backing_off = tx.now + int(retry_in * 1e6)
        retrying = Retrying(record.attempts, retry_in)
        tx.store(record)
        tx.remember(lease.conversation, op, retrying)
        return retrying
    handover.write(tx, record, changes, state=False)
    handover.bury(tx, record, error)
    return _hand_over(tx, record, lease, op, claim)


def _hand_over(
    tx: Transaction, record: Record, lease: Lease, op: str, claim: Claim | None
) -> Turnover:
    handover.end_turn(tx, record)
    turnover = handover.next_turn(tx, record, op, claim)
    tx.store(record)
    tx.remember(lease.conversation, op, turnover)
    return turnover


def park(tx: Transaction, lease: Lease, op: str) -> None:
    """See `State.park`."""
    if tx.first_answer(lease.conversation, op) is not None:
        return
    record = tx.holding(lease)
    record.token, record.expires, record.wake = None, 0, tx.now
    tx.store(record)
    tx.remember(lease.conversation, op, Turnover())


# --- the journal --------------------------------------------------------------------------------


def take(tx: Transaction, lease: Lease, key: str, author: str | None) -> tuple[Inbound, ...]:
    """See `State.take`."""
    record = tx.holding(lease)
    found = tx.execute(
        "SELECT key FROM journal WHERE conversation = ? AND kind = 'take' AND name = ?",
        (record.id, key),
    ).fetchone()
    if found is not None:
        return inbox.of_part(tx, record, int(found[0]))
    (takes,) = tx.execute(
        "SELECT count(*) FROM journal WHERE conversation = ? AND kind = 'take'", (record.id,)
    ).fetchone()
    _journal(tx, record, "take", key, str(takes + 1), b"")
    moved = inbox.move(tx, record, author, takes + 1)
    tx.store(record)
    return moved


def record(tx: Transaction, lease: Lease, name: str, key: str, value: bytes) -> bytes:
    """See `State.record`."""
    row = tx.holding(lease)
    if _journal(tx, row, "step", name, key, value):
        if row.expiries:
            row.expiries = 0
            tx.store(row)
        return value
    (recorded,) = tx.execute(
        "SELECT value FROM journal "
        "WHERE conversation = ? AND kind = 'step' AND name = ? AND key = ?",
        (row.id, name, key),
    ).fetchone()
    return bytes(recorded)


def page(tx: Transaction, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
    """See `State.page`."""
    record = tx.holding(lease)
    if _journal(tx, record, "page", str(number), str(issue), intent):
        return Page(number, issue, intent)
    recorded, message_id = tx.execute(
        "SELECT value, message_id FROM journal "
        "WHERE conversation = ? AND kind = 'page' AND name = ? AND key = ?",
        (record.id, str(number), str(issue)),
    ).fetchone()
    return Page(number, issue, recorded, message_id)


def posted(tx: Transaction, lease: Lease, number: int, issue: int, message_id: str) -> None:
    """See `State.posted`."""
    record = tx.holding(lease)
    _journal(tx, record, "page", str(number), str(issue), b"")
    tx.execute(
        "UPDATE journal SET message_id = ? "
        "WHERE conversation = ? AND kind = 'page' AND name = ? AND key = ?",
        (message_id, record.id, str(number), str(issue)),
    )


def _journal(tx: Transaction, record: Record, kind: str, name: str, key: str, value: bytes) -> bool:
    """Record an entry of the turn; answer whether it is the first of its name and key."""
    written = tx.execute(
        "INSERT OR IGNORE INTO journal (conversation, kind, name, key, value) "
        "VALUES (?, ?, ?, ?, ?)",
        (record.id, kind, name, key, value),
    )
    return written.rowcount == 1


# --- requests to a holder -----------------------------------------------------------------------


def signal(
    tx: Transaction, conversation: Conversation, turn: str, kind: SignalKind, by: str, op: str
) -> Signalled | NotRunning:
    """See `State.signal`."""
    first: Signalled | NotRunning | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    answer: Signalled | NotRunning = NotRunning()
    if record.turn is not None and record.turn == turn:
        answer = admission.request(tx, record, kind, by)
        tx.publish(record)
        answer = replace(answer, turnover=_end_if_unheld(tx, record))
        tx.store(record)
    tx.remember(conversation, op, answer)
    return answer


def kill(
    tx: Transaction, conversation: Conversation, by: str, op: str, author: str | None
) -> Killed:
    """See `State.kill`."""
    first: Killed | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    hit = record.turn is not None and (author is None or inbox.includes(tx, record, author))
    killed = Killed(None, inbox.withdraw(tx, record, author))
    if hit:
        admission.request(tx, record, SignalKind.KILL, by)
        running = inbox.running(tx, record)
        tx.publish(record)
        killed = replace(killed, turn=running, turnover=_end_if_unheld(tx, record))
    if record.turn is None and not record.waiting:
        record.wake = None
    tx.store(record)
    tx.remember(conversation, op, killed)
    return killed


def _end_if_unheld(tx: Transaction, record: Record) -> Turnover:
    """Settle a stopped or killed turn that nobody holds; leave a wake for what waits."""
    if record.turn is None or record.held(tx.now) or record.pending not in handover.ENDED_BY:
        return Turnover()
    ended = handover.unrunnable(tx, record)
    handover.end_turn(tx, record)
    record.wake = tx.now if record.waiting else None
    return Turnover(None, (ended,) if ended else ())
