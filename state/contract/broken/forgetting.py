"""Faults in what is left of whom the store should know nothing any more."""

from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.keys import Author, Owner
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Forgetting, Held, Lost
from state.values import Conversation, Lease

Target = Owner | Conversation | Author


@caught_by("test_what_is_being_forgotten_is_gone", "test_a_person_is_gone_while_being_forgotten")
class ForgetsWithoutATombstone(MemoryState):
    """What comes between two batches is taken, and stays."""

    def _mark(self, target: Target, *, done: bool) -> None:
        """Leave no mark."""


@caught_by(
    "test_after_a_forget_a_message_works_as_the_first_one",
    "test_a_forgotten_owner_leaves_nothing_but_usage",
    "test_a_person_is_gone_while_being_forgotten",
    "test_a_forget_sent_twice",
)
class LeavesTheTombstone(MemoryState):
    """What was forgotten in several batches is refused for ever."""

    def _mark(self, target: Target, *, done: bool) -> None:
        if not done:
            self._db.tombstones.add(target)


@caught_by(
    "test_a_holder_of_what_was_forgotten_is_refused",
    "test_a_timer_of_what_was_forgotten_never_fires",
    "test_after_a_forget_a_message_works_as_the_first_one",
)
class RemembersWhatWasSeen(MemoryState):
    """A message that is said again after a forget is a duplicate still."""

    async def forget(self, target: Target, *, limit: int = 200) -> Forgetting:
        """Keep the marks of a conversation."""
        seen = dict(self._db.seen)
        answer = await super().forget(target, limit=limit)
        if isinstance(target, Conversation):
            self._db.seen = seen
        return answer


@caught_by("test_forgetting_an_owner_leaves_the_others")
class ForgetsByPrefix(MemoryState):
    """An owner whose name begins alike is forgotten, too."""

    async def forget(self, target: Target, *, limit: int = 200) -> Forgetting:
        """Forget the others on the way."""
        if isinstance(target, Owner):
            for other in {c.owner for c in self._db.records}:
                if other.startswith(target.id) and other != target.id:
                    await super().forget(Owner(other), limit=limit)
        return await super().forget(target, limit=limit)


@caught_by(
    "test_a_forgotten_owner_leaves_nothing_but_usage",
    "test_a_forgotten_conversation_leaves_nothing",
    "test_a_holder_of_what_was_forgotten_is_refused",
)
class KeepsTheKeysOfTheForgotten(MemoryState):
    """Conversations go, and what was kept for them stays."""

    def _drop_keys(self, target: Owner | Conversation) -> None:
        keys = dict(self._db.keys)
        super()._drop_keys(target)
        self._db.keys = keys


@caught_by(
    "test_a_forgotten_person_leaves_no_word",
    "test_a_person_is_gone_while_being_forgotten",
    "test_the_turn_of_others_is_left_to_its_holder",
)
class LeavesTheTranscript(MemoryState):
    """What a person said before stays readable."""

    def _erase(self, record: Record, author: str, now: int) -> None:
        transcript = record.transcript
        super()._erase(record, author, now)
        record.transcript = transcript


@caught_by("test_a_dead_letter_keeps_what_others_wrote")
class DropsWholeLetters(MemoryState):
    """A letter in which the person had a part goes with what others wrote."""

    def _erase(self, record: Record, author: str, now: int) -> None:
        for letter in list(record.dead):
            if any(inbound.author == author for inbound in letter.inbounds):
                record.dead.remove(letter)
        super()._erase(record, author, now)


@caught_by("test_the_turn_of_a_forgotten_person_ends")
class DropsWhatOthersSaid(MemoryState):
    """A turn in which the person had a part ends with all who are in it."""

    def _erase(self, record: Record, author: str, now: int) -> None:
        if record.turn is not None and record.turn.includes(author) and len(record.inbox) < 2:
            record.turn.taken.clear()
        super()._erase(record, author, now)


@caught_by("test_a_persons_name_may_begin_as_anothers")
class ForgetsNamesakes(MemoryState):
    """Whoever is called alike in another spelling is forgotten, too."""

    def _erase(self, record: Record, author: str, now: int) -> None:
        for entry in list(record.inbox):
            if entry.inbound.author.lower() == author and len(record.inbox) > 3:
                record.inbox.remove(entry)
        super()._erase(record, author, now)


@caught_by("test_a_renewal_survives_that_one_of_many_is_being_forgotten")
class RenewsNone(MemoryState):
    """One conversation that is being forgotten takes the other leases of a process with it."""

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        self._not_gone(lease.conversation, Owner(lease.conversation.owner))
        return super()._renew(lease, seconds)


@caught_by(
    "test_a_forget_sent_twice",
    "test_a_forgotten_conversation_leaves_nothing",
    "test_a_forgotten_owner_leaves_nothing_but_usage",
    "test_a_holder_of_what_was_forgotten_is_refused",
    "test_a_timer_of_what_was_forgotten_never_fires",
)
class FiresForTheForgotten(MemoryState):
    """The timers of a forgotten conversation stay, and wake it."""

    def _drop(self, conversation: Conversation) -> None:
        record = self._db.records[conversation]
        super()._drop(conversation)
        ghosts = {id_: replace(alarm, due=alarm.due) for id_, alarm in record.alarms.items()}
        if ghosts:
            ghost = Record(conversation)
            ghost.wake = min(alarm.due for alarm in ghosts.values())
            self._db.records[conversation] = ghost
