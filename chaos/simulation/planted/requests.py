"""Stores that are wrong about what people ask for."""

from dataclasses import replace

from state.memory import MemoryState
from state.memory.records import Waiting
from state.outcomes import (
    Admission,
    Amended,
    Duplicate,
    Killed,
    NotRunning,
    NotWaiting,
    Signalled,
    Superseding,
)
from state.values import (
    Claim,
    Conversation,
    Could,
    Inbound,
    Policy,
    SignalKind,
    Timer,
)


class Admitting(MemoryState):
    """Something is wrong about an admission."""

    def _before(self, conversation: Conversation, inbound: Inbound) -> None:
        """Spoil what is there."""

    def _after(self, conversation: Conversation, op: str) -> None:
        """Spoil what has become of it."""

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
        """Spoil, admit, spoil."""
        if self._first_answer(conversation, op) is None:
            self._before(conversation, inbound)
        answer = await super().admit(conversation, inbound, could, policy, op=op, claim=claim)
        self._after(conversation, op)
        return answer


class AdmitsTwice(Admitting):
    """A message that two processes hear is admitted twice."""

    def _before(self, conversation: Conversation, inbound: Inbound) -> None:
        self._db.seen.pop((conversation, inbound.id), None)


class ForgetsAdmissions(Admitting):
    """The repeat of an admission is told that it is a duplicate, and nobody runs its turn."""

    def _after(self, conversation: Conversation, op: str) -> None:
        self._db.answers.pop((conversation, op), None)


class StrandsTheNewcomer(Admitting):
    """A message that waits for the turn of somebody who has died leaves no wake."""

    def _after(self, conversation: Conversation, op: str) -> None:
        record = self._db.records.get(conversation)
        if record is not None and record.inbox and record.turn is not None:
            record.wake = None


class SignalsWhoeverRuns(MemoryState):
    """A stop that comes too late for its turn hits the next."""

    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """Mean the current turn."""
        record = self._db.records.get(conversation)
        current = record.turn.id if record and record.turn else turn
        return await super().signal(conversation, current, kind, by=by, op=op)


class Killing(MemoryState):
    """Something is wrong after a kill."""

    def _after(self, conversation: Conversation, killed: Killed) -> None:
        """Spoil the record."""
        raise NotImplementedError

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """Kill, then spoil."""
        again = self._first_answer(conversation, op) is not None
        answer = await super().kill(conversation, by=by, op=op, author=author)
        if not again:
            self._after(conversation, answer)
        return answer


class KeepsTheKilled(Killing):
    """What a kill has dropped is answered all the same."""

    def _after(self, conversation: Conversation, killed: Killed) -> None:
        record, now = self._record(conversation), self._now()
        record.inbox.extend(Waiting(inbound, now) for inbound in killed.dropped)
        record.wake = now if record.wake is None and record.inbox else record.wake


class KillsTheWakeOfATimer(Killing):
    """A kill of an idle conversation forgets that a timer is to wake it."""

    def _after(self, conversation: Conversation, killed: Killed) -> None:
        record = self._record(conversation)
        if record.turn is None and not record.inbox:
            record.wake = None


class AmendsTwice(MemoryState):
    """An edit that two processes hear is made twice."""

    async def amend(
        self, conversation: Conversation, inbound: str, edited: Inbound, *, op: str
    ) -> Amended | Superseding | NotWaiting | Duplicate:
        """Forget that the edit was seen."""
        answer = await super().amend(conversation, inbound, edited, op=op)
        self._db.seen.pop((conversation, edited.id), None)
        return answer


class FiresAgain(MemoryState):
    """A timer that is to fire once fires again and again."""

    async def schedule(self, conversation: Conversation, timer: Timer, *, op: str) -> int:
        """Let it recur."""
        return await super().schedule(conversation, replace(timer, every=timer.delay), op=op)
