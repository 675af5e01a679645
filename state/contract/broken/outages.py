"""Faults that show when the store is away, full, emptied or set back."""

from collections.abc import Callable, Sequence

from state.contract.broken.planted import caught_by
from state.errors import StateUnavailable
from state.memory import Database, MemoryState
from state.memory.handle import Answer
from state.outcomes import Drift, Held, Lost, Turnover
from state.values import Changes, Claim, Conversation, Lease


@caught_by("test_a_store_that_is_away_is_an_error_and_works_again")
class TakesSilenceForALoss(MemoryState):
    """A renewal that the store does not answer tells the holder that it lost."""

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """Answer Lost where nothing is known."""
        if not self._open:
            return await super().renew(leases, seconds)
        try:
            return await super().renew(leases, seconds)
        except StateUnavailable:
            return [Lost() for _ in leases]


@caught_by("test_a_full_store_takes_nothing_new_and_lets_turns_end")
class EndsOnlyWithRoom(MemoryState):
    """An end of a turn needs room of its own, so that a full store stays full."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Mark the turn as seen once more."""
        answer = await super().commit(lease, changes, op=op, claim=claim)
        seen = (lease.conversation, lease.turn)
        if seen in self._db.seen:
            self._db.seen[seen] = self._db.seen[seen]
        return answer


@caught_by(
    "test_a_holder_of_what_was_forgotten_is_refused",
    "test_holders_of_a_store_that_was_emptied_are_refused",
    "test_whoever_notices_tells_the_operator",
)
class RemembersWhatItGranted(MemoryState):
    """Where the store knows of nothing at all, a handle goes by what it did before."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        """Start without memories."""
        super().__init__(database, clock)
        self._done: set[str] = set()

    def _answer(self, conversation: Conversation, op: str, answer: Answer) -> Answer:
        self._done.add(op)
        return super()._answer(conversation, op, answer)

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        granted = lease.turn and lease.token.partition("-")[2] in self._done
        if granted and not (self._db.records or self._db.seen):
            return Held()
        return super()._renew(lease, seconds)
