"""Faults in what becomes of records that cannot be read."""

from collections import deque

from state.contract.broken.planted import caught_by
from state.listings import DeadLetters
from state.memory import MemoryState
from state.memory.records import Record
from state.values import Conversation

#: The tests in which something cannot be read.
ALL = (
    "test_a_message_is_admitted_behind_one_that_cannot_be_read",
    "test_a_message_that_cannot_be_read_is_set_aside",
    "test_a_timer_that_cannot_be_read_is_set_aside",
    "test_a_turn_that_cannot_be_read_is_set_aside",
    "test_a_view_of_what_cannot_be_read",
)


@caught_by(*ALL)
class FailsOverTheUnreadable(MemoryState):
    """Every step that meets it fails, for ever."""

    def _set_aside(self, record: Record) -> None:
        pass


@caught_by(*ALL)
class DropsTheUnreadable(MemoryState):
    """It is gone, and nobody is told."""

    def _set_aside(self, record: Record) -> None:
        super()._set_aside(record)
        record.dead = deque(letter for letter in record.dead if letter.inbounds)


@caught_by("test_a_message_that_cannot_be_read_is_set_aside")
class RequeuesNothing(MemoryState):
    """What has no inbounds is put back into the inbox, and so lost."""

    async def requeue(self, conversation: Conversation, letter: str, *, op: str) -> bool:
        """Drop the letter, whatever is in it."""
        return await super().requeue(conversation, letter, op=op) or await self.discard(
            conversation, letter
        )


@caught_by(*ALL[:-1])
class KeepsNoBytes(MemoryState):
    """The letter tells that there was something, and not what."""

    async def dead_letters(
        self, owner: str | None, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """List the letters without what could not be read."""
        for record in self._all():
            for letter in record.dead:
                letter.raw = None
        return await super().dead_letters(owner, cursor, limit)
