"""Faults in holding a conversation without a turn, and in taking one from its holder."""

from state.contract.broken.planted import caught_by
from state.memory import MemoryState, handover
from state.outcomes import Busy, Turnover
from state.values import Claim, Conversation, Lease


@caught_by("test_an_unfinished_turn_keeps_a_conversation_from_being_acquired")
class AcquiresOverATurn(MemoryState):
    """A parked turn is put aside for whoever wants to hold its conversation."""

    async def acquire(self, conversation: Conversation, *, op: str, claim: Claim) -> Lease | Busy:
        """Look away from a turn that nobody holds."""
        record = self._record(conversation)
        turn = record.turn
        if turn is not None and not record.held(self._now()):
            record.turn = None
        try:
            return await super().acquire(conversation, op=op, claim=claim)
        finally:
            record.turn = turn


@caught_by(
    "test_a_conversation_whose_acquirer_died_is_due",
    "test_a_conversation_can_be_held_without_a_turn",
    "test_a_timer_is_not_missed_by_a_held_conversation",
    "test_a_quiet_period_keeps_the_wake_of_a_holder",
)
class HoldsWithoutAWake(MemoryState):
    """A conversation whose holder died without a turn is looked at by nobody."""

    async def acquire(self, conversation: Conversation, *, op: str, claim: Claim) -> Lease | Busy:
        """Leave no wake."""
        answer = await super().acquire(conversation, op=op, claim=claim)
        if isinstance(answer, Lease):
            self._record(conversation).wake = None
        return answer


@caught_by("test_an_acquired_lease_holds_no_turn")
class TakesWithoutATurn(MemoryState):
    """Whoever holds a conversation may take what waits in it, turn or no turn."""

    async def park(self, lease: Lease, *, op: str) -> None:
        """Give any lease back, and what waits with it."""
        record = self._db.records.get(lease.conversation)
        if record is not None and record.turn is None and record.token == lease.token:
            record.withdraw(None)
        await super().park(lease, op=op)


@caught_by("test_a_release_sent_twice", "test_only_a_living_acquired_lease_is_released")
class ReleasesByName(MemoryState):
    """A hold that has ended is released, whoever holds the conversation since."""

    async def release(self, lease: Lease, *, op: str, claim: Claim | None) -> Turnover:
        """Drop what waits before the token is compared."""
        record = self._db.records.get(lease.conversation)
        if record is not None and not lease.turn and record.token != lease.token:
            record.withdraw(None)
        return await super().release(lease, op=op, claim=claim)


@caught_by(
    "test_a_parked_turn_is_claimed_and_not_stolen",
    "test_a_steal_from_somebody_else_is_refused",
    "test_of_many_racing_stealers_exactly_one_wins",
)
class StealsFromAnybody(MemoryState):
    """A steal takes the conversation from whoever holds it by then."""

    async def steal(
        self, conversation: Conversation, token: str, *, op: str, claim: Claim
    ) -> Turnover | Busy:
        """Name the living token in any case."""
        token = self._record(conversation).token or "nobody"
        self._record(conversation).token = token
        return await super().steal(conversation, token, op=op, claim=claim)


@caught_by("test_a_theft_counts_nothing")
class CountsThefts(MemoryState):
    """A steal is an expiry that came early, and counts as one."""

    async def steal(
        self, conversation: Conversation, token: str, *, op: str, claim: Claim
    ) -> Turnover | Busy:
        """Count it."""
        record = self._record(conversation)
        if record.turn is not None and record.token == token:
            record.turn.expiries += 1
        return await super().steal(conversation, token, op=op, claim=claim)


@caught_by("test_a_stolen_turn_that_was_asked_to_end_is_settled")
class StealsWithoutTheSignal(MemoryState):
    """A stolen turn is run again, though its holder did not answer a stop or kill."""

    async def steal(
        self, conversation: Conversation, token: str, *, op: str, claim: Claim
    ) -> Turnover | Busy:
        """Forget what was asked of it."""
        record = self._record(conversation)
        if record.turn is not None and record.token == token:
            record.turn.signal = None
        return await super().steal(conversation, token, op=op, claim=claim)


@caught_by(
    "test_a_release_hands_over",
    "test_a_release_sent_twice",
    "test_what_waits_does_not_keep_a_conversation_from_being_held",
    "test_a_timer_is_not_missed_by_a_held_conversation",
)
class ReleasesOnly(MemoryState):
    """A release leaves what waits for the next sweep."""

    async def release(self, lease: Lease, *, op: str, claim: Claim | None) -> Turnover:
        """Start nothing."""
        return await super().release(lease, op=op, claim=None)


@caught_by(
    "test_a_conversation_can_be_held_without_a_turn",
    "test_a_conversation_held_without_a_turn_can_be_stolen",
    "test_a_draining_release_leaves_what_waits_due",
    "test_a_held_conversation_cannot_be_acquired",
    "test_a_quiet_period_keeps_the_wake_of_a_holder",
    "test_a_release_hands_over",
    "test_a_release_sent_twice",
    "test_a_released_conversation_can_be_acquired_again",
    "test_a_timer_is_not_missed_by_a_held_conversation",
    "test_all_leases_of_before_are_lost_and_later_ones_hold",
    "test_an_acquire_sent_twice",
    "test_an_acquired_lease_can_be_renewed",
    "test_an_acquired_lease_holds_no_turn",
    "test_of_many_racing_acquirers_exactly_one_wins",
)
class AcquiresForAMoment(MemoryState):
    """A conversation is held until the next message."""

    async def acquire(self, conversation: Conversation, *, op: str, claim: Claim) -> Lease | Busy:
        """Let the lease end at once."""
        answer = await super().acquire(conversation, op=op, claim=claim)
        record = self._record(conversation)
        if isinstance(answer, Lease) and not record.inbox:
            record.expires = self._now()
            handover.rewake(record, self._now())
        return answer


@caught_by("test_a_lease_on_a_turn_is_not_released")
class ReleasesTurns(MemoryState):
    """A turn is given back like a hold, and lost."""

    async def release(self, lease: Lease, *, op: str, claim: Claim | None) -> Turnover:
        """Drop the turn first."""
        record = self._db.records.get(lease.conversation)
        if record is not None and record.token == lease.token and lease.turn:
            record.turn = None
        return await super().release(lease, op=op, claim=claim)
