"""Faults in the end of a turn and the start of the next."""

import asyncio
from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Drift, Turnover
from state.values import Changes, Claim, Lease


@caught_by(
    "test_a_cadence_that_would_never_let_go_is_refused",
    "test_a_commit_sets_and_deletes_timers",
    "test_a_commit_that_only_sets_a_timer_leaves_a_wake",
    "test_a_recurring_timer_keeps_its_cadence",
    "test_a_recurring_timer_tells_of_the_latest_it_missed",
    "test_a_release_racing_an_admit_strands_nobody",
    "test_a_timer_is_beyond_the_bounds",
)
class ReleasesBeforeItLooks(MemoryState):
    """The inbox is looked at first and the lease given back a moment later, without a wake."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Look, wait, then release if nothing waited when it looked."""
        if claim is None or (await self.view(lease.conversation)).waiting:
            return await super().commit(lease, changes, op=op, claim=claim)
        await asyncio.sleep(0)
        answer = await super().commit(lease, changes, op=op, claim=None)
        record = self._record(lease.conversation)
        record.wake = record.wake if record.turn else None
        return answer


class Committed(MemoryState):
    """Commits as asked after the record was spoiled; the faults below say how."""

    def _spoil(self, record: Record, changes: Changes) -> Changes:
        """Change the record; return the changes to commit instead."""
        raise NotImplementedError

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Spoil, unless the lease does not hold or it is a repeat; then commit."""
        record = self._db.records.get(lease.conversation)
        if record is not None and record.held(self._now()) and record.token == lease.token:
            changes = self._spoil(record, changes)
        return await super().commit(lease, changes, op=op, claim=claim)


@caught_by("test_a_commit_without_state_leaves_the_stored_one")
class ClearsStateWithNone(Committed):
    """A commit that has no state to write clears the stored one."""

    def _spoil(self, record: Record, changes: Changes) -> Changes:
        if changes.state is None:
            record.state = None
        return changes


@caught_by("test_a_commit_without_state_leaves_the_stored_one", "test_payloads_come_back_unchanged")
class TakesEmptyForAbsent(Committed):
    """An empty state is no state."""

    def _spoil(self, record: Record, changes: Changes) -> Changes:
        return replace(changes, state=changes.state or None)


@caught_by("test_the_transcript_is_bounded")
class KeepsEveryLine(Committed):
    """The transcript grows for ever."""

    def _spoil(self, record: Record, changes: Changes) -> Changes:
        return replace(changes, keep=10**9)


@caught_by("test_a_commit_refuses_steps_that_were_not_asked_for")
class WritesBeforeItChecks(Committed):
    """A commit that is refused for drift has written its state."""

    def _spoil(self, record: Record, changes: Changes) -> Changes:
        steps = set(record.turn.steps) if record.turn else set()
        if changes.asked is not None and not steps <= changes.asked:
            record.state = changes.state
        return changes


@caught_by("test_a_commit_may_ask_for_more_than_was_recorded")
class WantsEveryStep(MemoryState):
    """A step that was asked for and not recorded is drift as well."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Compare in both directions."""
        _, turn = self._holding(lease) if changes.asked else (None, None)
        if turn is not None and changes.asked and changes.asked > set(turn.steps):
            return Drift(())
        return await super().commit(lease, changes, op=op, claim=claim)


@caught_by(
    "test_a_commit_gives_the_next_turn_the_new_state",
    "test_a_commit_that_handed_over_sent_twice",
)
class HandsOldStateOver(MemoryState):
    """The next turn is given the state that was there before the commit."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Answer with the state as it was."""
        record = self._db.records.get(lease.conversation)
        old = (record.state, record.state_version) if record else (None, 0)
        answer = await super().commit(lease, changes, op=op, claim=claim)
        if isinstance(answer, Turnover) and answer.started is not None:
            started = replace(answer.started, state=old[0], state_version=old[1])
            return replace(answer, started=started)
        return answer


@caught_by(
    "test_a_commit_sent_twice_at_once",
    "test_a_commit_that_handed_over_sent_twice",
    "test_a_gathered_turn_is_taken_up_as_it_was",
    "test_a_message_that_waits_can_be_amended",
    "test_a_requeued_letter_waits_its_turn",
    "test_an_interrupted_commit_is_repeated",
    "test_ids_come_back_unchanged",
    "test_messages_are_answered_in_the_order_they_came",
    "test_the_rest_of_a_message_waits_with_it",
    "test_the_rest_of_anothers_message_joins_the_turn_too",
    "test_what_does_not_gather_is_a_turn_of_its_own",
    "test_what_gathers_while_a_turn_runs_becomes_one_turn",
)
class ServesTheLastFirst(Committed):
    """A hand-over starts the newest message."""

    def _spoil(self, record: Record, changes: Changes) -> Changes:
        record.inbox.rotate(1)
        return changes


@caught_by(
    "test_a_hand_over_drops_over_age_messages_too", "test_what_is_held_back_is_part_of_no_gathering"
)
class HandsOverWhateverItsAge(MemoryState):
    """Only a claim drops what is too old; a commit starts it."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Hand over without a limit of age."""
        claim = replace(claim, expire_after=1e6) if claim else None
        return await super().commit(lease, changes, op=op, claim=claim)


@caught_by(
    "test_a_commit_of_a_draining_process_frees_and_wakes",
    "test_a_draining_release_racing_an_admit_strands_nobody",
    "test_pending_work_always_has_a_wake",
)
class DrainsWithoutAWake(MemoryState):
    """A process that takes nothing leaves what waits for nobody to find."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Commit, then forget the wake when a single message waits."""
        answer = await super().commit(lease, changes, op=op, claim=claim)
        record = self._record(lease.conversation)
        if claim is None and len(record.inbox) == 1:
            record.wake = None
        return answer


@caught_by("test_an_interrupted_commit_is_repeated", "test_a_commit_sent_twice_at_once")
class AnswersAfterwards(MemoryState):
    """The answer is kept a moment after the commit, and not at all when the caller goes away."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Commit, wait, keep the answer."""
        answer = await super().commit(lease, changes, op=op, claim=claim)
        kept = self._db.answers.pop((lease.conversation, op), None)
        await asyncio.sleep(0)
        if kept is not None:
            self._db.answers[lease.conversation, op] = kept
        return answer
