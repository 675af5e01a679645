"""Faults in what is held back, gathered and interrupted."""

from dataclasses import replace

from state.contract.broken.admission import Asked, Twisted
from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Admission, Turnover
from state.values import Changes, Claim, Conversation, Could, Inbound, Lease, Policy


@caught_by(
    "test_a_message_can_be_held_back",
    "test_a_message_that_is_held_back_blocks_nobody",
    "test_an_admit_moves_the_wake_to_the_first_that_may_start",
    "test_dropping_the_oldest_counts_what_is_held_back",
    "test_what_is_held_back_is_part_of_no_gathering",
    "test_what_is_held_back_survives_its_process",
    "test_withdrawing_the_last_message_leaves_no_wake",
)
class HoldsNothingBack(Twisted):
    """A time before which a message must not start is overlooked."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return could, replace(policy, not_before=0), claim


@caught_by(
    "test_a_gathered_turn_is_taken_up_as_it_was",
    "test_the_rest_of_anothers_message_joins_the_turn_too",
    "test_what_does_not_gather_is_a_turn_of_its_own",
    "test_what_gathers_while_a_turn_runs_becomes_one_turn",
)
class GathersNothing(Twisted):
    """Messages that came while a turn ran are turns of their own."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return could, replace(policy, gather=policy.gather and policy.quiet > 0), claim


@caught_by(
    "test_a_message_is_admitted_behind_one_that_cannot_be_read",
    "test_what_does_not_gather_is_a_turn_of_its_own",
)
class GathersEverything(Twisted):
    """What must be a turn of its own is swept into one that gathers."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        gathers = any(entry.gather for entry in record.inbox) and record.turn is not None
        return could, replace(policy, gather=policy.gather or gathers), claim


@caught_by("test_a_quiet_period_has_an_end")
class KeepsQuietForEver(Twisted):
    """A conversation in which people go on talking is never answered."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return could, replace(policy, quiet_most=3600), claim


@caught_by("test_a_quiet_period_holds_a_conversation_back", "test_a_quiet_period_has_an_end")
class CountsQuietFromTheFirst(Twisted):
    """The quiet period ends so long after the oldest message, whatever was said since."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return could, replace(policy, quiet_most=min(policy.quiet, policy.quiet_most)), claim


@caught_by("test_a_quiet_period_keeps_the_wake_of_a_holder")
class KeepsQuietWithoutAWake(MemoryState):
    """The wake of a hold is taken for one that a quiet period may delay."""

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
        """Admit, and take the wake away."""
        answer = await super().admit(conversation, inbound, could, policy, op=op, claim=claim)
        record = self._record(conversation)
        if policy.quiet and record.turn is None and record.held(self._now()):
            record.wake = None
        return answer


@caught_by(
    "test_the_rest_of_a_message_joins_the_turn_that_answers_it",
    "test_the_rest_of_a_message_waits_with_it",
    "test_the_rest_of_anothers_message_joins_the_turn_too",
    "test_what_was_taken_goes_on_with_the_rest_of_a_message",
)
class JoinsNothing(Twisted):
    """The halves of a split paste are two messages."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return replace(could, joins=None), policy, claim


@caught_by(
    "test_the_rest_of_a_message_joins_the_turn_that_answers_it",
    "test_the_rest_of_anothers_message_joins_the_turn_too",
    "test_what_was_taken_goes_on_with_the_rest_of_a_message",
)
class CountsTheRest(MemoryState):
    """The rest of a message is a follow-up, of which there may be only so many."""

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """Let the turn's own inbounds behind."""
        turn = self._record(lease.conversation).turn
        if turn is not None:
            turn.rejoined = False
        return await super().supersede(lease, op=op, claim=claim, carry=carry, changes=changes)


@caught_by(
    "test_a_request_stays_while_another_has_cause",
    "test_an_interruption_takes_the_place_of_any_turn",
)
class InterruptsForOneselfOnly(MemoryState):
    """An interruption moves what the turn's own author has waiting."""

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """Forget that it was an interruption."""
        turn = self._record(lease.conversation).turn
        if turn is not None:
            turn.everyone = False
        return await super().supersede(lease, op=op, claim=claim, carry=carry, changes=changes)


@caught_by(
    "test_a_busy_conversation_can_turn_messages_away",
    "test_an_admit_that_changed_nothing_sent_twice",
    "test_a_message_that_was_turned_away_is_a_duplicate",
)
class TurnsNobodyAway(Twisted):
    """A conversation that takes one message at a time queues them."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return could, replace(policy, drop=False), claim


@caught_by("test_a_follow_up_is_not_turned_away")
class TurnsFollowUpsAway(Twisted):
    """Who corrects a message is told that the bot is busy with it."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return replace(could, follow_up=could.follow_up and not policy.drop), policy, claim


@caught_by(
    "test_an_edit_by_another_than_the_lead_is_not_lost",
    "test_the_rest_of_anothers_message_joins_the_turn_too",
)
class MovesTheLeadsOnly(MemoryState):
    """What continues another's message in the turn waits on, though it made the turn end."""

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """Forget what continues what, but for the lead's."""
        record = self._record(lease.conversation)
        for entry in record.inbox:
            if record.turn is not None and entry.inbound.author != record.turn.lead:
                entry.joins = None
        return await super().supersede(lease, op=op, claim=claim, carry=carry, changes=changes)
