"""Faults in what a turn keeps and what its next holder finds."""

from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Busy, Started, Turnover
from state.values import Changes, Claim, Conversation, Inbound, Lease, Page


@caught_by(
    "test_the_first_record_of_a_step_wins",
    "test_of_two_racing_records_both_are_told_the_same",
)
class RecordsTheLast(MemoryState):
    """A second result of a step replaces the first."""

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """Forget the step before it is recorded, and keep its place."""
        _, turn = self._holding(lease)
        await super().record(lease, name, key, value)
        turn.steps[name, key] = replace(turn.steps[name, key], value=value)
        return value


@caught_by("test_a_new_step_is_progress")
class TakesARepeatForProgress(MemoryState):
    """A turn that records the same step again and again is never given up."""

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """Record, and count the expiries anew in any case."""
        answer = await super().record(lease, name, key, value)
        self._holding(lease)[1].expiries = 0
        return answer


@caught_by("test_a_step_is_told_apart_by_name_and_key")
class JoinsNameAndKey(MemoryState):
    """Name and key are joined by a colon, which both may contain."""

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """Find the step by what name and key are joined to."""
        _, turn = self._holding(lease)
        for step in turn.steps.values():
            if f"{step.name}:{step.key}" == f"{name}:{key}":
                name, key = step.name, step.key
        return await super().record(lease, name, key, value)


@caught_by("test_payloads_come_back_unchanged")
class RecordsText(MemoryState):
    """A step's result is kept as text."""

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """Replace what is no text."""
        return await super().record(lease, name, key, value.decode(errors="replace").encode())


@caught_by("test_the_first_intent_of_a_page_wins", "test_a_page_keeps_the_id_of_its_message")
class WritesPagesOver(MemoryState):
    """The last intent of a page wins, and its message id is forgotten with the first."""

    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """Record the page as if it were new, unless it is the same."""
        _, turn = self._holding(lease)
        known = turn.pages.get((number, issue))
        if known is not None and known.intent != intent:
            del turn.pages[number, issue]
        return await super().page(lease, number, issue, intent)


class Retold(MemoryState):
    """Claims as asked and then spoils what the holder is given; the faults below say how."""

    def _retold(self, record: Record, started: Started) -> Started:
        """Return what to give instead."""
        raise NotImplementedError

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Claim, then retell."""
        answer = await super().claim(conversation, op=op, claim=claim)
        if isinstance(answer, Turnover) and answer.started is not None:
            started = self._retold(self._record(conversation), answer.started)
            return replace(answer, started=started)
        return answer


@caught_by("test_pages_come_back_by_number_and_issue")
class SortsPagesAsText(Retold):
    """Page 10 comes before page 9."""

    def _retold(self, record: Record, started: Started) -> Started:
        pages = sorted(started.pages, key=lambda page: (str(page.number), str(page.issue)))
        return replace(started, pages=tuple(pages))


@caught_by(
    "test_steps_come_back_in_the_order_of_their_recording",
    "test_a_step_is_told_apart_by_name_and_key",
)
class SortsSteps(Retold):
    """Steps come back by their names."""

    def _retold(self, record: Record, started: Started) -> Started:
        return replace(started, steps=tuple(sorted(started.steps, key=lambda step: step.name)))


@caught_by(
    "test_a_take_is_seen_by_a_replay_at_the_same_point",
    "test_waiting_and_taken_payloads_come_back_unchanged",
    "test_a_parked_turn_is_due_now",
)
class ForgetsTakes(Retold):
    """What a turn took is not recorded for its next holder."""

    def _retold(self, record: Record, started: Started) -> Started:
        if record.turn is not None:
            record.turn.taken.clear()
        return started


@caught_by("test_a_superseding_turn_is_taken_up_as_it_was", "test_a_supersede_sent_twice")
class ForgetsTheFollowUps(Retold):
    """The count of follow-ups dies with the holder."""

    def _retold(self, record: Record, started: Started) -> Started:
        return replace(started, followups=0)


@caught_by(
    "test_a_parked_turn_is_due_now",
    "test_a_take_is_recorded_under_its_key",
    "test_a_take_is_seen_by_a_replay_at_the_same_point",
    "test_a_turn_is_stolen_with_all_it_has",
)
class TakesMoreUnderAKey(MemoryState):
    """Asked again under the same key, a take also moves what came since."""

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """Add to what was recorded, if it had been anything."""
        record, turn = self._holding(lease)
        if turn.taken.get(key):
            turn.taken[key] += record.withdraw(author)
        return await super().take(lease, key, author)


@caught_by(
    "test_what_waits_is_taken_into_the_turn",
    "test_superseding_with_nothing_to_follow_is_a_commit",
    "test_a_new_turn_has_no_step_or_page_of_another",
)
class TakesFromEverybody(MemoryState):
    """The author that a take is limited to is overlooked."""

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """Take everybody's."""
        return await super().take(lease, key)


@caught_by("test_superseding_a_stopped_turn_is_a_commit")
class SupersedesWhatWasStopped(MemoryState):
    """A follow-up takes the place of a turn though it was stopped or killed meanwhile."""

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """Look away from the signal."""
        record = self._record(lease.conversation)
        if record.turn is not None and record.token == lease.token and record.held(self._now()):
            record.turn.signal = None
        return await super().supersede(lease, op=op, claim=claim, carry=carry, changes=changes)


@caught_by(
    "test_a_superseded_turn_is_acknowledged",
    "test_a_turn_that_was_cut_short_keeps_its_answer_and_timers",
)
class SupersedesWithState(MemoryState):
    """The state of a run that was cut short is written as if it had finished."""

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """Write the state first, if the lease holds."""
        record = self._record(lease.conversation)
        holds = record.held(self._now()) and record.token == lease.token
        if changes is not None and changes.state and holds:
            record.state = changes.state
        return await super().supersede(lease, op=op, claim=claim, carry=carry, changes=changes)
