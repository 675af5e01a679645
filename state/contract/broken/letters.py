"""Faults in what is kept of turns that were given up, and in trying them again."""

from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.listings import DeadLetters
from state.memory import MemoryState
from state.memory.records import Record
from state.values import Conversation


@caught_by("test_dead_letters_list_the_oldest_first", "test_dead_letters_are_bounded")
class ListsTheNewestFirst(MemoryState):
    """The letters of a page come in the opposite order."""

    async def dead_letters(
        self, owner: str | None, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """Turn the page around, if it is of one conversation."""
        page = await super().dead_letters(owner, cursor, limit)
        one = len({letter.conversation for letter in page.letters}) == 1
        return replace(page, letters=page.letters[::-1]) if one else page


@caught_by("test_dead_letters_are_listed_by_owner", "test_forgetting_an_owner_leaves_the_others")
class ListsLettersByPrefix(MemoryState):
    """An owner whose name begins alike has its letters listed, too."""

    async def dead_letters(
        self, owner: str | None, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """Add those of the others to the last page."""
        page = await super().dead_letters(owner, cursor, limit)
        if owner is None:
            return page
        others = {home.owner for home in self._db.records} - {owner}
        alike = [other for other in others if other.startswith(owner)]
        if page.cursor is None:
            for other in sorted(alike):
                more = await super().dead_letters(other, None, limit)
                page = replace(page, letters=page.letters + more.letters)
        return page


@caught_by("test_dead_letters_of_all_owners_are_listed_each_once")
class ListsTheFirstPartition(MemoryState):
    """Whoever asks for the letters of all owners is told of one partition."""

    async def dead_letters(
        self, owner: str | None, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """Leave out the others."""
        page = await super().dead_letters(owner, cursor, limit)
        if owner is not None:
            return page
        found = tuple(one for one in page.letters if self._partition(one.conversation) == 0)
        return replace(page, letters=found)


class Requeued(MemoryState):
    """Requeues as asked and then spoils the record; the faults below say how."""

    def _spoil(self, record: Record) -> None:
        """Change what the step left."""
        raise NotImplementedError

    async def requeue(self, conversation: Conversation, letter: str, *, op: str) -> bool:
        """Requeue, then spoil; not when it is a repeat."""
        repeated = (conversation, op) in self._db.answers
        answer = await super().requeue(conversation, letter, op=op)
        if answer and not repeated:
            self._spoil(self._record(conversation))
        return answer


@caught_by("test_a_requeued_letter_runs_again")
class RequeuesOneByOne(Requeued):
    """The inbounds of a letter run as turns of their own."""

    def _spoil(self, record: Record) -> None:
        for entry in record.inbox:
            entry.joins = None


@caught_by("test_a_requeued_letter_runs_again")
class RequeuesWithoutAWake(Requeued):
    """What was requeued is left for nobody to find."""

    def _spoil(self, record: Record) -> None:
        if record.turn is None and len(record.inbox) > 1:
            record.wake = None


@caught_by("test_a_requeued_letter_runs_again", "test_a_requeued_letter_waits_its_turn")
class RequeuesAhead(Requeued):
    """What was requeued runs before what waits."""

    def _spoil(self, record: Record) -> None:
        record.inbox.rotate(1)


@caught_by("test_a_discard_sent_twice", "test_a_letter_that_is_not_there_is_no_letter")
class DiscardsTheOldest(MemoryState):
    """A letter that is not there is taken for the conversation's oldest."""

    async def discard(self, conversation: Conversation, letter: str) -> bool:
        """Discard another, if that one is not there."""
        record = self._record(conversation)
        if record.dead and all(one.id != letter for one in record.dead):
            letter = record.dead[0].id
        await super().discard(conversation, letter)
        return True
