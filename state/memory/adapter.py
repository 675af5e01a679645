"""
The state port in one process's memory: the executable specification.

Each step is atomic because nothing awaits between its first read and its last write. Read this
adapter to learn what a step does; the others must agree with it in every answer and every view.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

from state.keys import Author
from state.memory import admission, handover
from state.memory.keeping import Keeping, refuse_foreign
from state.memory.messages import Messages
from state.memory.operating import Operating
from state.memory.records import Record
from state.memory.renewing import Renewing
from state.memory.sharding import Sharding
from state.memory.timers import Timers
from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Duplicate,
    Ignored,
    Killed,
    NotRunning,
    Placed,
    Refused,
    Retrying,
    Signalled,
    Superseding,
    Turnover,
)
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Page,
    Policy,
    Signal,
    SignalKind,
    Step,
)


class MemoryState(Renewing, Messages, Timers, Keeping, Operating, Sharding):
    """Every step of `state.ports.State` over a `Database`."""

    # --- admission and hand-over ---------------------------------------------------------------

    async def admit(
        self,
        conversation: Conversation,
        inbound: Inbound,
        could: Could,
        policy: Policy,
        *,
        op: str,
        claim: Claim | None,
    ) -> Admission:
        """See `State.admit`."""
        now = self._now()
        self._not_gone(Author(inbound.author))
        first: Admission | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        if (conversation, inbound.id) in self._db.seen:
            turn = record.turn.id if record.turn else None
            self._sweep(record)
            return self._answer(conversation, op, Duplicate(turn))
        self._db.seen[conversation, inbound.id] = now
        decision: Admission = admission.decide(record, inbound, could, policy, now)
        if not isinstance(decision, Ignored | Refused | Duplicate):
            handover.relent(record)
            turnover = self._take_up(record, op, claim, now)
            settled = (
                decision.turnover.settled if isinstance(decision, Placed | Superseding) else ()
            )
            decision = replace(
                decision, turnover=Turnover(turnover.started, (*settled, *turnover.settled))
            )
        if isinstance(decision, Placed):
            decision = replace(decision, place=place_of(inbound, record))
        if isinstance(decision, Superseding | Signalled):
            self._publish(record)
        self._sweep(record)
        return self._answer(conversation, op, decision)

    def _take_up(self, record: Record, op: str, claim: Claim | None, now: int) -> Turnover:
        """Hand over after an admission, unless somebody speaks or the head backs off."""
        if record.held(now) or record.backing_off > now:
            return Turnover()
        return handover.next_turn(record, op, claim, now, lambda: self._number(record))

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """See `State.claim`."""
        now = self._now()
        first: Turnover | Busy | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        until = max(record.expires if record.held(now) else 0, record.backing_off)
        if until > now:
            return Busy((until - now) / 1e6)
        turnover = handover.next_turn(record, op, claim, now, lambda: self._number(record))
        self._sweep(record)
        return self._answer(conversation, op, turnover)

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """See `State.supersede`."""
        now = self._now()
        first: Turnover | None = self._first_answer(lease.conversation, op)
        if first is not None:
            return first
        record, turn = self._holding(lease)
        successor = handover.successor(record, turn, carry, now)
        if changes is not None:
            stays = successor.inbounds if successor is not None else ()
            handover.write(record, turn, changes, now, state=False, but=stays)
            self._use(record, changes, now)
        handover.end_turn(record)
        record.turn = successor
        turnover = handover.next_turn(record, op, claim, now, lambda: self._number(record))
        self._sweep(record)
        return self._answer(lease.conversation, op, turnover)

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """See `State.take`."""
        record, turn = self._holding(lease)
        if key not in turn.taken:
            turn.taken[key] = record.withdraw(author)
            handover.relent(record)
        return turn.taken[key]

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """See `State.record`."""
        _, turn = self._holding(lease)
        if (name, key) not in turn.steps:
            turn.steps[name, key] = Step(name, key, value)
            turn.expiries = 0
        return turn.steps[name, key].value

    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """See `State.page`."""
        _, turn = self._holding(lease)
        return turn.pages.setdefault((number, issue), Page(number, issue, intent))

    async def posted(self, lease: Lease, number: int, issue: int, message_id: str) -> None:
        """See `State.posted`."""
        _, turn = self._holding(lease)
        page = turn.pages.get((number, issue), Page(number, issue, b""))
        turn.pages[number, issue] = replace(page, message_id=message_id)

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """See `State.commit`."""
        now = self._now()
        refuse_foreign(lease.conversation.owner, changes)
        first: Turnover | Drift | None = self._first_answer(lease.conversation, op)
        if first is not None:
            return first
        record, turn = self._holding(lease)
        if changes.asked is not None and (
            unasked := [k for k in turn.steps if k not in changes.asked]
        ):
            return Drift(tuple(unasked))
        handover.write(record, turn, changes, now, state=True)
        self._write_beside(record, changes, now)
        handover.end_turn(record)
        return self._hand_over(record, op, claim, now)

    async def fail(
        self,
        lease: Lease,
        error: str,
        changes: Changes,
        *,
        retry_in: float | None,
        limit: int,
        op: str,
        claim: Claim | None,
    ) -> Turnover | Retrying:
        """See `State.fail`."""
        now = self._now()
        first: Turnover | Retrying | None = self._first_answer(lease.conversation, op)
        if first is not None:
            return first
        record, turn = self._holding(lease)
        self._use(record, changes, now)
        turn.attempts += 1
        ended = turn.pending() in handover.ENDED_BY
        if retry_in is not None and turn.attempts < limit and not ended:
            record.token, record.expires = None, 0
            record.wake = record.backing_off = now + int(retry_in * 1e6)
            return self._answer(lease.conversation, op, Retrying(turn.attempts, retry_in))
        handover.write(record, turn, changes, now, state=False)
        if not ended:  # else the hand-over settles it, as that of a dead holder would
            handover.bury(record, turn, error, now)
            handover.end_turn(record)
        return self._hand_over(record, op, claim, now)

    def _hand_over(self, record: Record, op: str, claim: Claim | None, now: int) -> Turnover:
        turnover = handover.next_turn(record, op, claim, now, lambda: self._number(record))
        self._sweep(record)
        return self._answer(record.conversation, op, turnover)

    async def park(self, lease: Lease, *, op: str) -> None:
        """See `State.park`."""
        now = self._now()
        if self._first_answer(lease.conversation, op) is not None:
            return
        record, _ = self._holding(lease)
        record.token, record.expires, record.wake = None, 0, now
        self._answer(lease.conversation, op, Turnover())

    # --- requests to a holder -------------------------------------------------------------------

    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """See `State.signal`."""
        now = self._now()
        first: Signalled | NotRunning | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        answer: Signalled | NotRunning = NotRunning()
        if record.turn is not None and record.turn.id == turn:
            answer = admission.request(record, record.turn, kind, by)
            self._publish(record)
            answer = replace(answer, turnover=self._end_if_unheld(record, now))
        self._sweep(record)
        return self._answer(conversation, op, answer)

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """See `State.kill`."""
        now = self._now()
        first: Killed | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        turn = record.turn
        hit = turn is not None and (author is None or turn.includes(author))
        dropped = record.withdraw(author)
        handover.relent(record)
        running = None
        if turn is not None and hit:
            admission.request(record, turn, SignalKind.KILL, by)
            running = turn.running(now, record.living(now))
            self._publish(record)
        turnover = self._end_if_unheld(record, now) if hit else Turnover()
        handover.rewake(record, now)
        self._sweep(record)
        return self._answer(conversation, op, Killed(running, dropped, turnover))

    def _end_if_unheld(self, record: Record, now: int) -> Turnover:
        """Settle a stopped or killed turn that nobody holds; leave a wake for what waits."""
        settled = () if record.held(now) else handover.stopped(record)
        if settled:
            handover.rewake(record, now)
        return Turnover(None, settled)

    async def hints(self) -> AsyncGenerator[Signal, None]:
        """See `State.hints`."""
        queue: asyncio.Queue[Signal] = asyncio.Queue()
        self._db.listeners.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._db.listeners.discard(queue)


def place_of(inbound: Inbound, record: Record) -> int:
    """Count what is ahead of the newest inbound, now that the hand-over is done."""
    if record.turn is not None and record.turn.id == inbound.id:
        return 0
    return len(record.inbox) - 1 + (record.turn is not None)
