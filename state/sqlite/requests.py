"""The steps of `state.ports.Requests`: on a turn, on all that waits, and on one message."""

from collections.abc import AsyncGenerator
from dataclasses import replace

from state.mending import mended
from state.outcomes import (
    Amended,
    Duplicate,
    Killed,
    NotRunning,
    NotWaiting,
    Signalled,
    Superseding,
    Turnover,
    Withdrawn,
)
from state.sqlite import admission, handover, inbox, journal
from state.sqlite.handle import Handle
from state.sqlite.records import Record, Waiting
from state.sqlite.transaction import Transaction
from state.values import Conversation, Inbound, Signal, SignalKind


class Requests(Handle):
    """Signals to a holder, changes of what waits, and the hints about both."""

    @mended
    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """See `State.signal`."""
        return await self._write(lambda tx: signal(tx, conversation, turn, kind, by, op))

    @mended
    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """See `State.kill`."""
        return await self._write(lambda tx: kill(tx, conversation, by, op, author))

    async def hints(self) -> AsyncGenerator[Signal, None]:
        """See `State.hints`; those of other processes come within a fifth of a second."""
        with self._channel.listener() as queue:
            self._open_writer().wake()
            while True:
                yield await queue.get()

    @mended
    async def withdraw(
        self, conversation: Conversation, inbound: str, *, op: str
    ) -> Withdrawn | NotWaiting:
        """See `State.withdraw`."""
        return await self._write(lambda tx: withdraw(tx, conversation, inbound, op))

    @mended
    async def amend(
        self, conversation: Conversation, inbound: str, edited: Inbound, *, op: str
    ) -> Amended | Superseding | NotWaiting | Duplicate:
        """See `State.amend`."""
        return await self._write(lambda tx: amend(tx, conversation, inbound, edited, op))


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
    handover.relent(tx, record)
    if hit:
        admission.request(tx, record, SignalKind.KILL, by)
        running = inbox.running(tx, record)
        tx.publish(record)
        killed = replace(killed, turn=running, turnover=_end_if_unheld(tx, record))
    handover.rewake(tx, record)
    tx.store(record)
    tx.remember(conversation, op, killed)
    return killed


def _end_if_unheld(tx: Transaction, record: Record) -> Turnover:
    """Settle a stopped or killed turn that nobody holds; leave a wake for what waits."""
    settled = () if record.held(tx.now) else handover.stopped(tx, record)
    if settled:
        handover.rewake(tx, record)
    return Turnover(None, settled)


def withdraw(
    tx: Transaction, conversation: Conversation, inbound: str, op: str
) -> Withdrawn | NotWaiting:
    """See `State.withdraw`."""
    first: Withdrawn | NotWaiting | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    tx.mark_seen(conversation, inbound)
    answer: Withdrawn | NotWaiting = NotWaiting(_answering(tx, record, inbound))
    entry = inbox.waiting(tx, record, inbound)
    if entry is not None:
        (gone,) = inbox.remove(tx, record, [entry])
        answer = Withdrawn(gone)
        handover.relent(tx, record)
        handover.rewake(tx, record)
        tx.store(record)
    tx.remember(conversation, op, answer)
    return answer


def amend(
    tx: Transaction, conversation: Conversation, inbound: str, edited: Inbound, op: str
) -> Amended | Superseding | NotWaiting | Duplicate:
    """See `State.amend`."""
    first: Amended | Superseding | NotWaiting | Duplicate | None
    first = tx.first_answer(conversation, op, edited)
    if first is not None:
        return first
    record = tx.load(conversation)
    answer: Amended | Superseding | NotWaiting | Duplicate
    if tx.mark_seen(conversation, edited.id):
        answer = _amended(tx, record, inbound, edited)
    else:
        answer = Duplicate(record.turn)
    tx.remember(conversation, op, answer, edited)
    return answer


def _amended(
    tx: Transaction, record: Record, inbound: str, edited: Inbound
) -> Amended | Superseding | NotWaiting:
    """Change what waits, or ask the turn that answers it to make room."""
    entry = inbox.waiting(tx, record, inbound)
    if entry is not None:
        tx.execute(
            "UPDATE inbound SET author = ?, payload = ? WHERE conversation = ? AND place = ?",
            (edited.author, edited.payload, record.key, entry.place),
        )
        return Amended()
    turn = _answering(tx, record, inbound)
    open_to = record.pending in (None, SignalKind.SUPERSEDE) and not journal.pages(tx, record)
    if turn is None or not open_to:
        return NotWaiting(turn)
    entry = Waiting.of(edited, record.admitted)
    entry.joins = inbound
    inbox.prepend(tx, record, entry)
    admission.supersede(record, edited, everyone=False, rejoined=False)
    tx.publish(record)
    tx.store(record)
    return Superseding(turn)


def _answering(tx: Transaction, record: Record, inbound: str) -> str | None:
    """The id of the current turn, if *inbound* is part of it."""
    part = record.turn is not None and inbox.answers(tx, record, inbound)
    return record.turn if part else None
