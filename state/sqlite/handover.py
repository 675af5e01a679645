"""
Who speaks next: the part that admit, claim, supersede, commit, fail and kill have in common.

Each function works on the loaded row and its transaction; who calls stores the row.
"""

from state.outcomes import Settled, Started, Turnover
from state.ports import DEAD_LETTER_LIMIT, MAX_EXPIRIES
from state.sqlite import inbox, journal
from state.sqlite.records import Record, Transaction
from state.values import Changes, Claim, Inbound, Lease, Outcome, Page, SignalKind

#: How a pending request settles a turn that nobody holds. A SUPERSEDE is left to the next holder.
ENDED_BY = {SignalKind.STOP: Outcome.STOPPED, SignalKind.KILL: Outcome.KILLED}


def next_turn(tx: Transaction, record: Record, op: str, claim: Claim | None) -> Turnover:
    """
    Start the head of a conversation that nobody holds, settling on the way what cannot start.

    With a claim of None start nothing, and leave a wake if anything is pending.
    """
    if claim is None:
        pending = record.turn is not None or record.waiting
        record.wake = min(tx.now, record.wake or tx.now) if pending else None
        return Turnover()
    settled: list[Settled] = []
    if record.turn is not None:
        ended = unrunnable(tx, record)
        if ended is None:
            return Turnover(resume(tx, record, op, claim))
        settled.append(ended)
        end_turn(tx, record)
    expired, head = open_inbox(tx, record, tx.now - int(claim.expire_after * 1e6))
    settled += expired
    if head is None:
        record.wake = None
        return Turnover(None, tuple(settled))
    return Turnover(grant(tx, record, op, claim, (head,)), tuple(settled))


def unrunnable(tx: Transaction, record: Record) -> Settled | None:
    """Settle an unfinished turn that must not run again: stopped, killed, or expired too often."""
    if record.token is not None:  # its lease ended by expiry, not by fail or park
        record.token = None
        record.expiries += 1
    outcome = ENDED_BY.get(record.pending) if record.pending else None
    if outcome is None and record.expiries >= MAX_EXPIRIES:
        bury(tx, record, f"its lease expired {record.expiries} times without progress")
        outcome = Outcome.DEAD
    if outcome is None:
        return None
    return Settled(outcome, inbox.of_turn(tx, record), record.turn, journal.pages(tx, record))


def open_inbox(
    tx: Transaction, record: Record, oldest: int
) -> tuple[list[Settled], Inbound | None]:
    """Settle what was admitted before *oldest*, and begin a turn with the first that was not."""
    gone: list[Inbound] = []
    head = None
    while record.waiting and head is None:
        at, inbound = inbox.pop(tx, record, oldest)
        if at < oldest:
            gone.append(inbound)
        else:
            head = inbound
            begin(tx, record, head, at)
    return ([Settled(Outcome.EXPIRED, tuple(gone))] if gone else []), head


def begin(tx: Transaction, record: Record, inbound: Inbound, admitted: int) -> None:
    """Make a new turn of *inbound*, led by its author."""
    record.turn, record.lead = inbound.id, inbound.author
    record.admitted, record.begun = admitted, tx.now


def resume(tx: Transaction, record: Record, op: str, claim: Claim) -> Started:
    """Give a new lease on an unfinished turn, with all that its last holders recorded."""
    return grant(
        tx,
        record,
        op,
        claim,
        inbox.of_part(tx, record, 0),
        pages=tuple(sorted(journal.pages(tx, record), key=by_number)),
        replayed=True,
    )


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
    state, version = kept_state(tx, record)
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


def end_turn(tx: Transaction, record: Record) -> None:
    """Drop the turn and its lease; what comes next is the caller's."""
    tx.execute("DELETE FROM inbound WHERE conversation = ? AND part IS NOT NULL", (record.id,))
    tx.execute("DELETE FROM journal WHERE conversation = ?", (record.id,))
    record.turn = record.token = record.signal = record.signal_by = None
    record.lead = ""
    record.expires = record.backing_off = record.admitted = record.begun = 0
    record.attempts = record.followups = record.expiries = record.detached = 0


# --- what stays of it ---------------------------------------------------------------------------


def kept_state(tx: Transaction, record: Record) -> tuple[bytes | None, int]:
    """The conversation's state and its version."""
    if not record.stateful:
        return None, 0
    value, version = tx.execute(
        "SELECT value, version FROM state WHERE conversation = ?", (record.id,)
    ).fetchone()
    return value, version


def write(tx: Transaction, record: Record, changes: Changes, *, state: bool) -> None:
    """Write state (if *state*) and transcript, unless the conversation was reset meanwhile."""
    if record.detached:
        return
    if state and changes.state is not None:
        tx.execute(
            "INSERT OR REPLACE INTO state VALUES (?, ?, ?)",
            (record.id, changes.state_version, changes.state),
        )
        record.stateful = 1
    for payload in changes.transcript:
        record.entries += 1
        tx.execute("INSERT INTO transcript VALUES (?, ?, ?)", (record.id, record.entries, payload))
    record.kept += len(changes.transcript)
    if record.kept > changes.keep:
        tx.execute(
            "DELETE FROM transcript WHERE conversation = ? AND number <= ?",
            (record.id, record.entries - changes.keep),
        )
        record.kept = changes.keep


def bury(tx: Transaction, record: Record, error: str) -> None:
    """Keep a turn that was given up as a dead letter."""
    letter = tx.execute(
        "INSERT INTO dead_letter (conversation, error, state) VALUES (?, ?, ?)",
        (record.id, error, kept_state(tx, record)[0]),
    ).lastrowid
    tx.execute(
        "INSERT INTO dead_inbound (dead_letter, name, author, payload) "
        "SELECT ?, name, author, payload FROM inbound "
        "WHERE conversation = ? AND part IS NOT NULL ORDER BY part, id",
        (letter, record.id),
    )
    record.dead += 1
    if record.dead > DEAD_LETTER_LIMIT:
        drop_oldest_letter(tx, record)


def drop_oldest_letter(tx: Transaction, record: Record) -> None:
    """Make room for a newer dead letter."""
    (oldest,) = tx.execute(
        "SELECT min(id) FROM dead_letter WHERE conversation = ?", (record.id,)
    ).fetchone()
    tx.execute("DELETE FROM dead_inbound WHERE dead_letter = ?", (oldest,))
    tx.execute("DELETE FROM dead_letter WHERE id = ?", (oldest,))
    record.dead -= 1
