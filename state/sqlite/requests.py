"""The steps that ask a holder to end its turn, or end it when nobody holds it."""

from dataclasses import replace

from state.outcomes import Killed, NotRunning, Signalled, Turnover
from state.sqlite import admission, handover, inbox
from state.sqlite.records import Record, Transaction
from state.values import Conversation, SignalKind


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
