"""Faults in what an inbound is taken for, and in which order inbounds start."""

import asyncio
from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Admission, Duplicate, Placed, Refused, Turnover
from state.values import (
    Claim,
    Conversation,
    Could,
    Inbound,
    Overflow,
    Policy,
    StopRight,
)

Asked = tuple[Could, Policy, Claim | None]


class Twisted(MemoryState):
    """Admits something else than it was asked; the faults below say what."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        """Return what to admit instead."""
        raise NotImplementedError

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
        """Admit with twisted arguments."""
        record = self._db.records.get(conversation) or Record(conversation)
        could, policy, claim = self._twisted(record, inbound, (could, policy, claim))
        return await super().admit(conversation, inbound, could, policy, op=op, claim=claim)


@caught_by(
    "test_a_full_inbox_refuses_and_changes_nothing_else",
    "test_a_full_inbox_can_drop_its_oldest",
    "test_a_full_inbox_is_exact_under_a_crowd",
    "test_dropping_the_oldest_is_exact_under_a_crowd",
    "test_dropping_the_oldest_never_makes_room_for_one_over_their_share",
)
class CountsTheTurnAsWaiting(Twisted):
    """The running turn takes one of the places in the inbox."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        taken = record.turn is not None
        return could, replace(policy, inbox=max(1, policy.inbox - taken)), claim


@caught_by("test_a_follow_up_is_held_to_the_bounds")
class LetsFollowUpsIn(Twisted):
    """A follow-up is appended whatever waits already."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        if could.follow_up and record.turn is not None and record.turn.lead == inbound.author:
            policy = replace(policy, inbox=1000, per_person=1000)
        return could, policy, claim


@caught_by("test_dropping_the_oldest_never_makes_room_for_one_over_their_share")
class DropsBeforeItCountsTheShare(Twisted):
    """With drop_oldest there is room for everybody, so nobody's share is counted."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        if policy.overflow is Overflow.DROP_OLDEST:
            policy = replace(policy, per_person=1000)
        return could, policy, claim


@caught_by(
    "test_a_request_goes_with_the_interruption_that_is_stopped",
    "test_a_stop_by_a_stranger_does_not_touch_the_turn",
    "test_a_stop_without_a_turn_of_ones_own_withdraws_what_waits",
)
class LetsAnybodyStop(Twisted):
    """A stop phrase ends the turn that runs, whoever says it."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        anybody = could.stop is StopRight.OWN and record.turn is not None
        return replace(could, stop=StopRight.ANY) if anybody else could, policy, claim


@caught_by("test_a_stop_by_somebody_who_was_taken_into_the_turn_signals_it")
class LetsOnlyTheLeadStop(Twisted):
    """A person whose message the turn has taken in has no right on it."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        taken = () if record.turn is None else record.turn.taken.values()
        if any(other.author == inbound.author for group in taken for other in group):
            could = replace(could, stop=StopRight.NONE)
        return could, policy, claim


@caught_by("test_a_turn_is_followed_up_only_so_often")
class FollowsUpForEver(Twisted):
    """A turn is superseded as often as its author likes."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return could, replace(policy, max_followups=1000), claim


@caught_by("test_an_early_follow_up_needs_a_turn_without_a_page")
class FollowsUpLate(Twisted):
    """A turn that has posted is superseded all the same."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        return could, replace(policy, early_only=False), claim


@caught_by("test_a_turn_that_carries_a_stop_is_not_followed_up")
class FollowsUpWhatWasStopped(MemoryState):
    """A follow-up is taken for one though its turn has been asked to end."""

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
        """Look away from the signal while deciding."""
        turn = self._record(conversation).turn
        signal = turn.signal if turn else None
        if turn is not None and could.follow_up:
            turn.signal = None
        answer = await super().admit(conversation, inbound, could, policy, op=op, claim=claim)
        if turn is not None and could.follow_up and signal is not None:
            turn.signal = signal
        return answer


@caught_by(
    "test_a_head_that_backs_off_is_not_started_by_a_message",
    "test_pending_work_always_has_a_wake",
)
class StartsWhatBacksOff(Twisted):
    """The next message starts the head again, though its retry is not due yet."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        record.backing_off = 0
        return asked


@caught_by(
    "test_a_conversation_can_be_held_without_a_turn",
    "test_a_conversation_whose_acquirer_died_is_due",
    "test_a_quiet_period_keeps_the_wake_of_a_holder",
    "test_an_admit_never_delays_an_earlier_wake",
)
class WakesAnew(Twisted):
    """An admit that starts nothing sets the wake, though an earlier one is due already."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        if record.turn is None and record.wake is not None:
            record.wake = self._now()
        return asked


@caught_by("test_a_message_that_was_answered_is_a_duplicate")
class RemembersForADay(Twisted):
    """A message id is forgotten after 24 h, before the longest backfill has come."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        at = self._db.seen.get((record.conversation, inbound.id))
        if at is not None and at < self._now() - 24 * 3600 * 10**6:
            del self._db.seen[record.conversation, inbound.id]
        return asked


@caught_by("test_a_draining_process_settles_what_a_stop_ends")
class DrainsWithoutSettling(Twisted):
    """A stop that a draining process hears waits for another one."""

    def _twisted(self, record: Record, inbound: Inbound, asked: Asked) -> Asked:
        could, policy, claim = asked
        if claim is None and not record.held(self._now()) and record.turn is not None:
            could = replace(could, stop=StopRight.NONE)
        return could, policy, claim


class Afterthought(MemoryState):
    """Admits as asked and then spoils the answer; the faults below say how."""

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
        """Admit, then think again."""
        answer = await super().admit(conversation, inbound, could, policy, op=op, claim=claim)
        return self._spoiled(conversation, inbound, answer)

    def _spoiled(self, home: Conversation, inbound: Inbound, answer: Admission) -> Admission:
        """Return what to answer instead."""
        raise NotImplementedError


@caught_by("test_a_message_that_was_turned_away_is_a_duplicate")
class ForgetsWhomItTurnedAway(Afterthought):
    """A refused message leaves no mark, and is refused again by the next process."""

    def _spoiled(self, home: Conversation, inbound: Inbound, answer: Admission) -> Admission:
        if isinstance(answer, Refused):
            self._db.seen.pop((home, inbound.id), None)
        return answer


@caught_by(
    "test_a_full_inbox_can_drop_its_oldest",
    "test_dropping_the_oldest_counts_what_is_held_back",
    "test_dropping_the_oldest_is_exact_under_a_crowd",
)
class DropsInSilence(Afterthought):
    """Nobody learns whose message had to make room."""

    def _spoiled(self, home: Conversation, inbound: Inbound, answer: Admission) -> Admission:
        if isinstance(answer, Placed) and answer.turnover.started is None:
            return replace(answer, turnover=Turnover())
        return answer


@caught_by("test_a_place_counts_what_is_ahead_after_the_step")
class CountsWhatItSettled(Afterthought):
    """A turn that the same step has settled still counts as ahead."""

    def _spoiled(self, home: Conversation, inbound: Inbound, answer: Admission) -> Admission:
        if isinstance(answer, Placed) and any(s.turn for s in answer.turnover.settled):
            return replace(answer, place=answer.place + 1)
        return answer


@caught_by(
    "test_a_message_that_waits_or_runs_is_a_duplicate",
    "test_a_message_heard_by_two_processes_acts_once",
    "test_everything_survives_a_restart",
)
class NamesNoTurn(Afterthought):
    """A duplicate is not told which turn runs, if its message only waits."""

    def _spoiled(self, home: Conversation, inbound: Inbound, answer: Admission) -> Admission:
        waits = any(w.inbound.id == inbound.id for w in self._record(home).inbox)
        return Duplicate(None) if isinstance(answer, Duplicate) and waits else answer


@caught_by(
    "test_a_full_inbox_is_exact_under_a_crowd",
    "test_dropping_the_oldest_is_exact_under_a_crowd",
)
class AdmitsInTwoSteps(MemoryState):
    """The bounds are checked, and the message is appended a moment later."""

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
        """Look whether there is room, wait, append in any case."""
        waiting = len((await self.view(conversation)).waiting)
        await asyncio.sleep(0)
        if waiting < policy.inbox:
            policy = replace(policy, inbox=1000)
        return await super().admit(conversation, inbound, could, policy, op=op, claim=claim)
