"""Faults in what exceptions, expiries and parks count and keep."""

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.outcomes import Busy, Retrying, Turnover
from state.values import Changes, Claim, Conversation, Lease


@caught_by(
    "test_attempts_do_not_count_parks_expiries_and_follow_ups",
    "test_only_expiries_count_as_expiries",
)
class CountsParks(MemoryState):
    """A deploy counts against every turn that it interrupts."""

    async def park(self, lease: Lease, *, op: str) -> None:
        """Count it as an exception."""
        record = self._db.records.get(lease.conversation)
        await super().park(lease, op=op)
        if record is not None and record.turn is not None:
            record.turn.attempts += 1


@caught_by("test_only_expiries_count_as_expiries")
class ParksByExpiry(MemoryState):
    """A parked lease is one that has expired, and counts as such."""

    async def park(self, lease: Lease, *, op: str) -> None:
        """Park, and count an expiry without progress."""
        record = self._db.records.get(lease.conversation)
        await super().park(lease, op=op)
        if record is not None and record.turn is not None:
            record.turn.expiries += 1


@caught_by(
    "test_a_parked_turn_is_due_now",
    "test_pending_work_always_has_a_wake",
    "test_what_is_due_is_told_earliest_first",
)
class ParksUntilExpiry(MemoryState):
    """A parked turn is looked at when its lease would have ended."""

    async def park(self, lease: Lease, *, op: str) -> None:
        """Park, and leave the wake where it was."""
        record = self._record(lease.conversation)
        wake = record.wake
        await super().park(lease, op=op)
        record.wake = wake


class Failed(MemoryState):
    """Fails as asked and then spoils the record; the faults below say how."""

    def _spoil(self, conversation: Conversation, changes: Changes) -> None:
        """Change what the failure left."""
        raise NotImplementedError

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
        """Fail, then spoil."""
        answer = await super().fail(
            lease, error, changes, retry_in=retry_in, limit=limit, op=op, claim=claim
        )
        self._spoil(lease.conversation, changes)
        return answer


@caught_by("test_a_failed_turn_keeps_steps_and_pages")
class StartsOver(Failed):
    """A retry begins without the steps of the run that failed."""

    def _spoil(self, conversation: Conversation, changes: Changes) -> None:
        record = self._record(conversation)
        if record.turn is not None and record.backing_off and record.turn.pages:
            record.turn.steps.clear()


@caught_by("test_a_failed_turn_keeps_the_head_and_wakes_later")
class RetriesWhenAsked(Failed):
    """The back-off is left to the wake; a claim that comes early is let in."""

    def _spoil(self, conversation: Conversation, changes: Changes) -> None:
        record = self._record(conversation)
        if record.inbox and record.turn is not None:
            record.backing_off = 0


@caught_by("test_state_survives_turns_that_write_none")
class KeepsTheStateOfAFailure(Failed):
    """A turn that was given up writes its state."""

    def _spoil(self, conversation: Conversation, changes: Changes) -> None:
        record = self._record(conversation)
        if record.turn is None and record.state is not None and changes.state is not None:
            record.state = changes.state


@caught_by("test_a_turn_that_fails_too_often_is_a_dead_letter")
class GivesUpLate(MemoryState):
    """A turn gets one more attempt than its limit."""

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
        """Fail under a higher limit."""
        limit += retry_in is not None
        return await super().fail(
            lease, error, changes, retry_in=retry_in, limit=limit, op=op, claim=claim
        )


@caught_by(
    "test_a_new_step_is_progress",
    "test_a_turn_that_expired_too_often_says_so",
    "test_a_turn_whose_lease_expires_too_often_is_a_dead_letter",
)
class NeverGivesUp(MemoryState):
    """A turn that kills every process that takes it up is taken up for ever."""

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Claim without counting."""
        record = self._record(conversation)
        if record.turn is not None:
            record.turn.expiries = 0
        return await super().claim(conversation, op=op, claim=claim)


@caught_by("test_a_turn_that_was_begun_is_never_over_age")
class DropsOldTurns(MemoryState):
    """An unfinished turn that is old enough is dropped like what waits."""

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Drop the turn, if nobody holds it."""
        record, now = self._record(conversation), self._now()
        oldest = now - int(claim.expire_after * 1e6)
        if record.turn is not None and record.turn.admitted < oldest and not record.held(now):
            record.turn = None
        return await super().claim(conversation, op=op, claim=claim)


@caught_by("test_a_retry_at_once_is_due_at_once")
class AlwaysBacksOff(MemoryState):
    """A delay of nothing is taken for a second."""

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
        """Fail with a delay in any case."""
        later = 1.0 if retry_in == 0 else retry_in
        answer = await super().fail(
            lease, error, changes, retry_in=later, limit=limit, op=op, claim=claim
        )
        if isinstance(answer, Retrying) and retry_in == 0:
            return Retrying(answer.attempts, 0)
        return answer


@caught_by("test_a_stopped_turn_that_fails_is_not_tried_again")
class RetriesWhatWasStopped(MemoryState):
    """A stop that comes while a turn is failing is forgotten with the failure."""

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
        """Look away from the signal."""
        record = self._db.records.get(lease.conversation)
        holds = record is not None and record.living(self._now()) == lease.token
        if holds and record is not None and record.turn is not None and claim is not None:
            record.turn.signal = None
        return await super().fail(
            lease, error, changes, retry_in=retry_in, limit=limit, op=op, claim=claim
        )
