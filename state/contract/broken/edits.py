"""Faults in what becomes of a message that is deleted or edited."""

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Amended, Duplicate, NotWaiting, Superseding, Withdrawn
from state.values import Conversation, Inbound


class Withdrawing(MemoryState):
    """Withdraws as asked and then spoils the record; the faults below say how."""

    def _spoil(self, record: Record, answer: Withdrawn | NotWaiting, inbound: str) -> None:
        """Change what the step left."""
        raise NotImplementedError

    async def withdraw(
        self, conversation: Conversation, inbound: str, *, op: str
    ) -> Withdrawn | NotWaiting:
        """Withdraw, then spoil."""
        answer = await super().withdraw(conversation, inbound, op=op)
        if (record := self._db.records.get(conversation)) is not None:
            self._spoil(record, answer, inbound)
        return answer


@caught_by("test_withdrawing_the_last_message_leaves_no_wake")
class WakesForWhatWasWithdrawn(Withdrawing):
    """The wake of a deleted message stays for the next."""

    def _spoil(self, record: Record, answer: Withdrawn | NotWaiting, inbound: str) -> None:
        if record.turn is None and record.inbox:
            record.wake = self._now()


@caught_by("test_withdrawing_leaves_the_wake_of_a_turn")
class WakesForWhatIsLeft(Withdrawing):
    """The next one in line is looked at now, though a turn runs or backs off."""

    def _spoil(self, record: Record, answer: Withdrawn | NotWaiting, inbound: str) -> None:
        if isinstance(answer, Withdrawn) and record.turn is not None and record.backing_off:
            record.wake = self._now()


@caught_by("test_a_message_that_runs_cannot_be_withdrawn")
class WithdrawsWhatWasTaken(Withdrawing):
    """A message that the turn has taken is taken out of it again."""

    def _spoil(self, record: Record, answer: Withdrawn | NotWaiting, inbound: str) -> None:
        if record.turn is not None and isinstance(answer, NotWaiting):
            for key, taken in record.turn.taken.items():
                record.turn.taken[key] = tuple(i for i in taken if i.id != inbound)


@caught_by("test_a_message_withdrawn_early_is_a_duplicate_later")
class HearsDeletionsOnce(MemoryState):
    """A deletion that comes before its message is nothing."""

    async def withdraw(
        self, conversation: Conversation, inbound: str, *, op: str
    ) -> Withdrawn | NotWaiting:
        """Leave no mark."""
        known = (conversation, inbound) in self._db.seen
        answer = await super().withdraw(conversation, inbound, op=op)
        if not known:
            self._db.seen.pop((conversation, inbound), None)
        return answer


class Amending(MemoryState):
    """Amends as asked and then spoils the record; the faults below say how."""

    def _spoil(self, record: Record, inbound: str, edited: Inbound, answer: object) -> None:
        """Change what the step left."""
        raise NotImplementedError

    async def amend(
        self, conversation: Conversation, inbound: str, edited: Inbound, *, op: str
    ) -> Amended | Superseding | NotWaiting | Duplicate:
        """Amend, then spoil; not when it is a repeat."""
        repeated = (conversation, op) in self._db.answers
        answer = await super().amend(conversation, inbound, edited, op=op)
        if not repeated and (record := self._db.records.get(conversation)) is not None:
            self._spoil(record, inbound, edited, answer)
        return answer


@caught_by("test_a_message_that_waits_can_be_amended")
class AmendsAtTheEnd(Amending):
    """An edited message loses its place."""

    def _spoil(self, record: Record, inbound: str, edited: Inbound, answer: object) -> None:
        if isinstance(answer, Amended):
            record.inbox.rotate(-1)


@caught_by("test_an_edit_of_what_runs_asks_the_turn_to_make_room")
class QueuesTheEdit(Amending):
    """The edit of what runs waits behind what others said since."""

    def _spoil(self, record: Record, inbound: str, edited: Inbound, answer: object) -> None:
        if isinstance(answer, Superseding):
            record.inbox.rotate(-1)


@caught_by("test_an_edit_is_heard_once")
class HearsEveryEdit(Amending):
    """The edit that a second process tells of is written over the first."""

    def _spoil(self, record: Record, inbound: str, edited: Inbound, answer: object) -> None:
        entry = record.waiting(inbound)
        if isinstance(answer, Duplicate) and entry is not None:
            entry.inbound = Inbound(inbound, edited.author, edited.payload)


@caught_by("test_an_edit_that_comes_too_late_changes_nothing")
class AmendsWhatIsOut(MemoryState):
    """An edit restarts a reply whose first page people are reading."""

    async def amend(
        self, conversation: Conversation, inbound: str, edited: Inbound, *, op: str
    ) -> Amended | Superseding | NotWaiting | Duplicate:
        """Look away from the pages."""
        turn = self._record(conversation).turn
        pages = turn.pages if turn else {}
        if turn is not None:
            turn.pages = {}
        answer = await super().amend(conversation, inbound, edited, op=op)
        if turn is not None:
            turn.pages = pages
        return answer
