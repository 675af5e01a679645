"""Faults in when a timer fires, how often, and as what."""

from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.listings import Schedules
from state.memory import MemoryState
from state.memory.records import Alarm
from state.outcomes import Busy, Drift, Turnover
from state.values import CatchUp, Changes, Claim, Conversation, Lease, Timer


class Set(MemoryState):
    """Sets another timer than it was asked for; the faults below say which."""

    def _instead(self, conversation: Conversation, timer: Timer) -> Timer:
        """Return the timer to set."""
        raise NotImplementedError

    async def schedule(self, conversation: Conversation, timer: Timer, *, op: str) -> int:
        """Set another."""
        return await super().schedule(conversation, self._instead(conversation, timer), op=op)


@caught_by(
    "test_a_recurring_timer_can_make_up_for_each",
    "test_what_a_timer_makes_up_for_is_bounded",
    "test_timers_are_listed_as_they_were_set",
)
class MakesUpForNone(Set):
    """Each occurrence that was missed is missed for good but one."""

    def _instead(self, conversation: Conversation, timer: Timer) -> Timer:
        return replace(timer, catch_up=CatchUp.LATEST)


@caught_by("test_setting_a_timer_again_replaces_it")
class KeepsTheFirstTimer(MemoryState):
    """A timer that is set again keeps its first time and content."""

    async def schedule(self, conversation: Conversation, timer: Timer, *, op: str) -> int:
        """Leave what there is."""
        alarm = self._record(conversation).alarms.get(timer.id)
        return alarm.generation if alarm else await super().schedule(conversation, timer, op=op)


class Rung(MemoryState):
    """Looks at the timers before each claim; the faults below say what for."""

    def _look(self, alarm: Alarm, now: int) -> None:
        """Change a timer before it may fire."""
        raise NotImplementedError

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Look, then claim."""
        record, now = self._record(conversation), self._now()
        if not record.held(now):
            for alarm in list(record.alarms.values()):
                self._look(alarm, now)
        return await super().claim(conversation, op=op, claim=claim)


@caught_by(
    "test_a_recurring_timer_keeps_its_cadence",
    "test_a_recurring_timer_tells_of_the_latest_it_missed",
)
class DriftsWithEachFiring(Rung):
    """The next occurrence is a whole cadence after the last was taken up."""

    def _look(self, alarm: Alarm, now: int) -> None:
        step = int((alarm.timer.every or 0) * 1e6)
        if step and alarm.due <= now and alarm.timer.catch_up is CatchUp.LATEST:
            alarm.occurrence += (now - alarm.due) // step
            alarm.due = now


@caught_by(
    "test_a_timer_can_be_deleted",
    "test_a_timer_fires_at_its_time",
    "test_a_timer_set_again_after_it_fired_is_another",
    "test_a_timer_that_fired_survives_its_holder",
    "test_setting_a_timer_again_replaces_it",
    "test_timers_are_listed_as_they_were_set",
)
class FiresAgain(MemoryState):
    """A timer that has fired is left where it was."""

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Put it back."""
        record, now = self._record(conversation), self._now()
        fired = {
            id_: alarm
            for id_, alarm in record.alarms.items()
            if alarm.due <= now and alarm.timer.every is None and record.turn is None
        }
        answer = await super().claim(conversation, op=op, claim=claim)
        self._record(conversation).alarms |= fired
        return answer


@caught_by("test_timers_that_are_due_come_in_the_order_of_their_times")
class FiresByName(Rung):
    """Timers that are due at once fire in the order of their names."""

    def _look(self, alarm: Alarm, now: int) -> None:
        if alarm.due < now and not alarm.timer.every and len(alarm.timer.id) == 1:
            alarm.due = now - 100 + ord(alarm.timer.id)


@caught_by("test_a_timer_can_be_deleted", "test_an_unschedule_sent_twice")
class DeletesUnseen(MemoryState):
    """Whether there was a timer is not told."""

    async def unschedule(self, conversation: Conversation, timer: str) -> bool:
        """Always say so."""
        await super().unschedule(conversation, timer)
        return True


@caught_by("test_deleting_a_timer_leaves_the_others")
class DeletesByPrefix(MemoryState):
    """A timer whose name begins alike is deleted, too."""

    async def unschedule(self, conversation: Conversation, timer: str) -> bool:
        """Delete all that match."""
        record = self._record(conversation)
        for id_ in [other for other in record.alarms if other.startswith(timer) and other != timer]:
            del record.alarms[id_]
        return await super().unschedule(conversation, timer)


@caught_by("test_timers_are_listed_by_owner_and_page")
class ListsByPage(MemoryState):
    """A page is cut first, then those of other owners are left out."""

    async def schedules(self, owner: str, cursor: str | None = None, limit: int = 200) -> Schedules:
        """Come short of a page."""
        page = await super().schedules(owner, cursor, limit)
        if limit > 100 or page.cursor is None:
            return page
        return replace(page, timers=page.timers[:-1])


@caught_by(
    "test_a_commit_sets_and_deletes_timers", "test_a_commit_that_only_sets_a_timer_leaves_a_wake"
)
class SetsTimersLate(MemoryState):
    """The delays of a commit's timers are counted from the end of its lease."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Delay them."""
        later = tuple(replace(timer, delay=timer.delay + 16) for timer in changes.timers)
        return await super().commit(lease, replace(changes, timers=later), op=op, claim=claim)
