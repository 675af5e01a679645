"""Faults in how a turn makes room for another."""

from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Drift, Killed, NotWaiting, Turnover, Withdrawn
from state.values import Changes, Claim, Conversation, Inbound, Lease, Signal


class KeepsARequest(MemoryState):
    """Has requests to make room outlive what asked for it; the faults below say how."""

    def _asked(self, conversation: Conversation) -> tuple[Record | None, Signal | None]:
        """Return the record, and the request that its turn carries."""
        record = self._db.records.get(conversation)
        return record, record.turn.signal if record and record.turn else None

    def _ask_again(self, record: Record | None, signal: Signal | None) -> None:
        """Put a request back."""
        if record is not None and record.turn is not None and record.turn.signal is None:
            record.turn.signal = signal


@caught_by(
    "test_a_request_goes_with_the_follow_up_that_is_deleted",
    "test_a_request_stays_while_another_has_cause",
)
class KeepsTheRequestOfTheDeleted(KeepsARequest):
    """A follow-up that is deleted ends the turn that it followed all the same."""

    async def withdraw(
        self, conversation: Conversation, inbound: str, *, op: str
    ) -> Withdrawn | NotWaiting:
        """Remove what waits, and nothing else."""
        asked = self._asked(conversation)
        answer = await super().withdraw(conversation, inbound, op=op)
        self._ask_again(*asked)
        return answer


@caught_by("test_a_request_goes_with_the_follow_up_that_is_taken")
class KeepsTheRequestOfTheTaken(KeepsARequest):
    """A turn that takes its follow-up is to make room for it too."""

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """Move what waits, and nothing else."""
        asked = self._asked(lease.conversation)
        answer = await super().take(lease, key, author)
        self._ask_again(*asked)
        return answer


@caught_by("test_a_request_goes_with_the_interruption_that_is_stopped")
class KeepsTheRequestOfTheKilled(KeepsARequest):
    """A kill of one's own waiting messages leaves the turn of others to end for them."""

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """Drop what waits, and nothing else."""
        asked = self._asked(conversation)
        answer = await super().kill(conversation, by=by, op=op, author=author)
        self._ask_again(*asked)
        return answer


@caught_by(
    "test_a_request_stays_while_another_has_cause",
    "test_a_supersede_sent_again_when_the_new_turn_is_over",
    "test_a_supersede_sent_twice",
    "test_an_edit_by_another_than_the_lead_is_not_lost",
    "test_an_interruption_takes_the_place_of_any_turn",
    "test_the_rest_of_a_message_joins_the_turn_that_answers_it",
    "test_the_rest_of_anothers_message_joins_the_turn_too",
    "test_what_others_said_is_answered_by_the_turn_after_a_follow_up",
    "test_what_was_taken_goes_on_with_the_rest_of_a_message",
)
class SupersedesForEverybody(MemoryState):
    """A follow-up of the lead acknowledges all of a turn that gathered several people."""

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """Take what the old turn had out of the new one."""
        record = self._db.records.get(lease.conversation)
        old = record.turn.all_inbounds if record and record.turn else ()
        answer = await super().supersede(lease, op=op, claim=claim, carry=carry, changes=changes)
        start, new = answer.started, record.turn if record else None
        if start is None or new is None:
            return answer
        new.inbounds = tuple(one for one in start.inbounds if one not in old)
        return replace(answer, started=replace(start, inbounds=new.inbounds))


@caught_by(
    "test_a_failure_that_is_tried_again_keeps_only_what_it_used",
    "test_a_turn_that_was_cut_short_keeps_its_answer_and_timers",
)
class CountsFinishedTurns(MemoryState):
    """What was used by a turn that did not finish is not counted."""

    def _use(self, record: Record, changes: Changes, now: int) -> None:
        if self._finishing:
            super()._use(record, changes, now)

    _finishing = False

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Count what a commit brings."""
        self._finishing = True
        try:
            return await super().commit(lease, changes, op=op, claim=claim)
        finally:
            self._finishing = False
