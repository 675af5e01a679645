"""Faults by which a step that is sent twice happens twice, one for each kind of step."""

from typing import Any

from state.contract.broken.planted import caught_by
from state.keys import Scope
from state.memory import MemoryState
from state.values import Conversation, Lease


def forgetting(step: str, *tests: str) -> None:
    """Plant an adapter that does not know its own answers to *step*, to be caught by *tests*."""

    async def again(
        self: MemoryState,
        about: Conversation | Lease | Scope | str,
        *arguments: object,
        op: str,
        **options: object,
    ) -> Any:  # noqa: ANN401 (the answer of whatever step it is)
        for conversation, other in list(self._db.answers):
            if other == op:
                del self._db.answers[conversation, other]
        return await getattr(MemoryState, step)(self, about, *arguments, op=op, **options)

    caught_by(*tests)(
        type(f"Forgets{step.title().replace('_', '')}", (MemoryState,), {step: again})
    )


forgetting(
    "admit",
    "test_an_admit_that_started_sent_twice",
    "test_an_admit_that_queued_sent_twice",
    "test_an_admit_that_changed_nothing_sent_twice",
    "test_an_admit_that_followed_up_sent_twice",
    "test_an_admit_that_stopped_sent_twice",
    "test_an_admit_sent_again_when_its_turn_is_over",
    "test_an_answer_survives_a_restart",
    "test_an_interrupted_admit_is_repeated",
)
forgetting(
    "claim",
    "test_a_claim_sent_twice",
    "test_a_claim_that_settled_sent_twice",
    "test_a_claim_sent_again_when_its_turn_is_over",
)
forgetting(
    "supersede",
    "test_a_supersede_sent_twice",
    "test_a_supersede_sent_again_when_the_new_turn_is_over",
)
forgetting(
    "commit",
    "test_a_commit_that_handed_over_sent_twice",
    "test_what_a_commit_keeps_is_kept_once",
    "test_a_commit_that_released_sent_twice",
    "test_a_commit_sent_again_much_later",
    "test_a_commit_sent_again_when_the_next_turn_is_over",
    "test_a_commit_sent_twice_at_once",
    "test_an_interrupted_commit_is_repeated",
)
forgetting(
    "fail",
    "test_a_failure_sent_twice",
    "test_a_failure_that_is_tried_again_keeps_only_what_it_used",
    "test_a_giving_up_sent_twice",
    "test_a_giving_up_sent_again_when_the_next_turn_is_over",
)
forgetting("park", "test_a_park_sent_twice")
forgetting("signal", "test_a_signal_sent_twice")
forgetting("kill", "test_a_kill_sent_twice")
forgetting("acquire", "test_an_acquire_sent_twice")
forgetting("release", "test_a_release_sent_twice")
forgetting("steal", "test_a_steal_sent_twice")
forgetting("withdraw", "test_a_withdrawal_sent_twice")
forgetting("amend", "test_an_amendment_sent_twice")
forgetting("schedule", "test_a_schedule_sent_twice")
forgetting("requeue", "test_a_requeue_sent_twice")
forgetting(
    "put_if_absent",
    "test_a_scope_is_a_conversations_or_a_persons",
    "test_what_is_kept_can_be_sent_twice",
)
forgetting("append", "test_what_is_kept_can_be_sent_twice")
forgetting("increment", "test_what_is_kept_can_be_sent_twice")
forgetting("claim_shards", "test_a_claim_of_shards_sent_twice")


@caught_by(
    "test_an_admit_sent_again_when_its_turn_is_over",
    "test_a_claim_sent_again_when_its_turn_is_over",
    "test_a_commit_sent_again_when_the_next_turn_is_over",
    "test_a_giving_up_sent_again_when_the_next_turn_is_over",
    "test_a_supersede_sent_again_when_the_new_turn_is_over",
)
class ParksTheAnswers(MemoryState):
    """The answer that granted a lease is kept with it, and goes when it is given back."""

    async def park(self, lease: Lease, *, op: str) -> None:
        """Park, and forget all other answers of the conversation."""
        await super().park(lease, op=op)
        for conversation, other in list(self._db.answers):
            if conversation == lease.conversation and other != op:
                del self._db.answers[conversation, other]
