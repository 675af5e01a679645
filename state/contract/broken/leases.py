"""Faults in who may speak, until when, and under which token."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Busy, Held, Killed, Lost, Turnover
from state.values import Claim, Conversation, Lease


@caught_by(
    "test_a_claim_racing_a_renewal_leaves_one_holder",
    "test_all_leases_of_before_are_lost_and_later_ones_hold",
    "test_an_acquired_lease_can_be_renewed",
    "test_an_expired_lease_is_not_renewed",
)
class RenewsTheExpired(MemoryState):
    """A lease that has ended is prolonged as long as nobody else has taken it."""

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        record = self._db.records.get(lease.conversation)
        if record is not None and record.token == lease.token:
            record.expires = max(record.expires, self._now() + 1)
        return super()._renew(lease, seconds)


@caught_by("test_a_foreign_token_is_not_renewed")
class ComparesNumbersOnly(MemoryState):
    """The random part of a token is not compared, so a number given out twice opens two doors."""

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        record = self._db.records.get(lease.conversation)
        if record is not None and record.token is not None:
            ours, theirs = (token.partition("-")[0] for token in (lease.token, record.token))
            lease = replace(lease, token=record.token) if ours == theirs else lease
        return super()._renew(lease, seconds)


@caught_by(
    "test_a_renewed_lease_lives_from_now_on",
    "test_a_turn_that_cannot_be_read_is_set_aside",
    "test_pending_work_always_has_a_wake",
)
class LeavesTheWakeAtTheOldExpiry(MemoryState):
    """A renewed lease is still looked at when it would have ended."""

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        record = self._db.records.get(lease.conversation)
        wake = record.wake if record else None
        answer = super()._renew(lease, seconds)
        if record is not None:
            record.wake = wake
        return answer


@caught_by(
    "test_a_release_hands_over",
    "test_a_renewal_survives_that_one_of_many_is_being_forgotten",
    "test_a_thousand_leases_are_renewed_at_once",
    "test_a_turn_that_cannot_be_read_is_set_aside",
    "test_losing_one_lease_leaves_the_others_of_a_process",
    "test_the_clock_of_a_host_decides_nothing",
)
class LosesAllWithOne(MemoryState):
    """One lost lease fails the whole renewal."""

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """Answer Lost to all when one is."""
        answers = await super().renew(leases, seconds)
        return [Lost() for _ in answers] if Lost() in answers else answers


@caught_by(
    "test_holders_of_a_store_that_was_emptied_are_refused",
    "test_holders_that_a_restored_copy_does_not_know_are_refused",
    "test_tokens_are_seeded_by_the_clock",
)
class CountsFromOne(MemoryState):
    """The counter is a bare one: a copy of the store, restored, gives its numbers again."""

    def _number(self, record: Record) -> int:
        self._db.counters[self._partition(record.conversation)] += 1
        return self._db.counters[self._partition(record.conversation)]


@caught_by("test_tokens_grow_when_the_clock_is_set_back")
class TrustsTheClock(MemoryState):
    """The number is the clock's, told apart only within one microsecond."""

    def _number(self, record: Record) -> int:
        counters, partition = self._db.counters, self._partition(record.conversation)
        near = 0 <= counters[partition] - self._now() < 1000
        counters[partition] = counters[partition] + 1 if near else self._now()
        return counters[partition]


@caught_by(
    "test_a_released_conversation_can_be_acquired_again",
    "test_after_a_forget_a_message_works_as_the_first_one",
    "test_conversations_of_one_partition_share_no_number",
    "test_tokens_grow_over_every_end_of_a_turn",
    "test_tokens_grow_when_the_clock_is_set_back",
)
class CountsByConversation(MemoryState):
    """The counter lies in the conversation's own record, and is forgotten with its lease."""

    def _number(self, record: Record) -> int:
        last = int(record.token.partition("-")[0]) if record.token else 0
        return max(last + 1, self._now())


@caught_by(
    "test_a_timer_fires_once_over_two_schedulers",
    "test_a_timer_is_not_missed_by_a_held_conversation",
    "test_of_many_racing_claims_exactly_one_wins",
    "test_of_many_racing_for_an_expired_lease_exactly_one_wins",
    "test_two_who_saw_the_same_due_list_get_each_conversation_once",
    "test_what_waits_does_not_keep_a_conversation_from_being_held",
)
class ClaimsInTwoSteps(MemoryState):
    """A claim looks whether the conversation is free, and takes it a moment later."""

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Look, wait, then take it whoever has it by now."""
        turn = (await self.view(conversation)).turn
        await asyncio.sleep(0)
        if turn is None or not turn.live:
            self._record(conversation).expires = 0
        return await super().claim(conversation, op=op, claim=claim)


@caught_by("test_conversations_are_isolated")
class KillsTheWholeOwner(MemoryState):
    """A kill is meant for every conversation of the owner."""

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """Kill in all of them; answer for the one that was named."""
        for other in [c for c in self._db.records if c.owner == conversation.owner]:
            if other != conversation:
                await super().kill(other, by=by, op=op, author=author)
        return await super().kill(conversation, by=by, op=op, author=author)


@caught_by("test_a_lease_holds_only_for_its_conversation")
class KnowsTokensOnly(MemoryState):
    """A token that lives somewhere is good everywhere."""

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        for record in self._db.records.values():
            if record.token == lease.token and record.held(self._now()):
                lease = replace(lease, conversation=record.conversation)
        return super()._renew(lease, seconds)


@caught_by(
    "test_a_claim_is_for_as_long_as_it_says",
)
class RoundsTheLease(MemoryState):
    """Leases last whole seconds, rounded up."""

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Claim for longer than was asked."""
        whole = replace(claim, seconds=float(-(-claim.seconds // 1)))
        return await super().claim(conversation, op=op, claim=whole)


@caught_by("test_the_clock_of_a_host_decides_nothing")
class TrustsTheHostsClock(MemoryState):
    """A lease is refused once it has ended by the clock of whoever asks."""

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        if self._open and lease.expires < time.time() * 1000:
            return Lost()
        return super()._renew(lease, seconds)
