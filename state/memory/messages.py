"""The steps on one message, and those that hold or seize a conversation as a whole."""

from state.errors import LeaseLost
from state.memory import admission, handover
from state.memory.handle import Handle
from state.memory.records import Turn, Waiting
from state.outcomes import (
    Amended,
    Busy,
    Duplicate,
    NotWaiting,
    Superseding,
    Turnover,
    Withdrawn,
)
from state.values import Claim, Conversation, Could, Inbound, Lease, Policy, SignalKind


class Messages(Handle):
    """Acquire, release, steal, withdraw and amend of a `Database`."""

    async def acquire(self, conversation: Conversation, *, op: str, claim: Claim) -> Lease | Busy:
        """See `State.acquire`."""
        now = self._now()
        first: Lease | Busy | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        if record.held(now) or record.turn is not None:
            until = max(record.expires if record.held(now) else now, record.backing_off)
            return Busy((until - now) / 1e6)
        record.token = f"{self._number(record)}-{op}"
        record.expires = record.wake = now + int(claim.seconds * 1e6)
        lease = Lease(conversation, "", record.token, record.expires // 1000)
        return self._answer(conversation, op, lease)

    async def release(self, lease: Lease, *, op: str, claim: Claim | None) -> Turnover:
        """See `State.release`."""
        now = self._now()
        first: Turnover | None = self._first_answer(lease.conversation, op)
        if first is not None:
            return first
        record = self._living(lease)
        if record.turn is not None:
            raise LeaseLost(f"conversation {lease.conversation.id}: the lease was not acquired")
        handover.end_turn(record)
        turnover = handover.next_turn(record, op, claim, now, lambda: self._number(record))
        self._sweep(record)
        return self._answer(lease.conversation, op, turnover)

    async def steal(
        self, conversation: Conversation, token: str, *, op: str, claim: Claim
    ) -> Turnover | Busy:
        """See `State.steal`."""
        now = self._now()
        first: Turnover | Busy | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        if record.token != token:
            until = max(record.expires if record.held(now) else now, record.backing_off)
            self._sweep(record)
            return Busy((until - now) / 1e6)
        record.token = None  # so that the hand-over counts no expiry
        turnover = handover.next_turn(record, op, claim, now, lambda: self._number(record))
        self._sweep(record)
        return self._answer(conversation, op, turnover)

    async def withdraw(
        self, conversation: Conversation, inbound: str, *, op: str
    ) -> Withdrawn | NotWaiting:
        """See `State.withdraw`."""
        now = self._now()
        first: Withdrawn | NotWaiting | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        self._db.seen.setdefault((conversation, inbound), now)
        answer: Withdrawn | NotWaiting = NotWaiting(self._answering(conversation, inbound))
        if (entry := record.waiting(inbound)) is not None:
            record.inbox.remove(entry)
            handover.relent(record)
            answer = Withdrawn(entry.inbound)
            handover.rewake(record, now)
        self._sweep(record)
        return self._answer(conversation, op, answer)

    async def amend(
        self, conversation: Conversation, inbound: str, edited: Inbound, *, op: str
    ) -> Amended | Superseding | NotWaiting | Duplicate:
        """See `State.amend`."""
        now = self._now()
        first: Amended | Superseding | NotWaiting | Duplicate | None = self._first_answer(
            conversation, op
        )
        if first is not None:
            return first
        record = self._record(conversation)
        turn = record.turn
        answer: Amended | Superseding | NotWaiting | Duplicate
        answer = NotWaiting(self._answering(conversation, inbound))
        if (conversation, edited.id) in self._db.seen:
            answer = Duplicate(turn.id if turn else None)
        elif (entry := record.waiting(inbound)) is not None:
            entry.inbound = Inbound(inbound, edited.author, edited.payload)
            answer = Amended()
        elif answer.turn is not None and turn is not None and amendable(turn):
            record.inbox.appendleft(Waiting(edited, turn.admitted, joins=inbound))
            admission.supersede(record, turn, edited, Could(), Policy())
            self._publish(record)
            answer = Superseding(turn.id)
        self._db.seen.setdefault((conversation, edited.id), now)
        self._sweep(record)
        return self._answer(conversation, op, answer)

    def _answering(self, conversation: Conversation, inbound: str) -> str | None:
        """The id of the current turn, if *inbound* is part of it."""
        record = self._db.records.get(conversation)
        turn = record.turn if record else None
        part = turn is not None and any(i.id == inbound for i in turn.all_inbounds)
        return turn.id if turn is not None and part else None


def amendable(turn: Turn) -> bool:
    """Whether an edit of its message still makes a difference to *turn*."""
    return not turn.pages and turn.pending() in (None, SignalKind.SUPERSEDE)
