"""Faults in what is due, what was said, and what is followed."""

from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.outcomes import Due, Entry, Subscriptions
from state.values import Conversation


@caught_by("test_what_is_due_is_told_earliest_first", "test_nobody_starves_in_a_long_list")
class ListsByName(MemoryState):
    """What is due comes in the order of names, so that a long list starves its end."""

    async def due(self, partition: int, limit: int, *, ahead: float = 0.0) -> Due:
        """Sort by name, then cut."""
        found = await super().due(partition, 10**6, ahead=ahead)
        named = sorted(found.conversations, key=lambda conversation: conversation.id, reverse=True)
        return Due(tuple(named[:limit]), found.signals[:limit])


@caught_by("test_a_sweep_tells_of_signals_until_the_turn_is_over")
class SweepsSignalsOnce(MemoryState):
    """A sweep tells of a signal only while its conversation is not due to be claimed."""

    async def due(self, partition: int, limit: int, *, ahead: float = 0.0) -> Due:
        """Tell of one signal at most."""
        found = await super().due(partition, limit, ahead=ahead)
        return replace(found, signals=found.signals[:1])


@caught_by("test_a_turn_whose_holder_died_is_due_when_the_lease_ends")
class SweepsLate(MemoryState):
    """An expired lease is due a moment after its end, when somebody may have claimed it."""

    async def due(self, partition: int, limit: int, *, ahead: float = 0.0) -> Due:
        """Leave out what expires at this very moment and has recorded something."""
        found = await super().due(partition, limit, ahead=ahead)
        now = self._now()
        late = {
            record.conversation
            for record in self._db.records.values()
            if record.expires == now and record.turn is not None and record.turn.steps
        }
        return replace(found, conversations=tuple(c for c in found.conversations if c not in late))


@caught_by("test_what_is_due_later_is_told_to_whom_looks_ahead")
class LooksNowhereAhead(MemoryState):
    """Whoever looks ahead is told what is due now."""

    async def due(self, partition: int, limit: int, *, ahead: float = 0.0) -> Due:
        """Forget that it was asked for more."""
        return await super().due(partition, limit)


@caught_by("test_the_transcript_is_read_by_pages")
class RepeatsTheEdge(MemoryState):
    """The entry before which a page is asked for is on that page, too."""

    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """Include the edge until there is nothing older."""
        found = await super().history(conversation, before=before, limit=10**6)
        upto = await super().history(conversation, before=before and before + 1, limit=10**6)
        return (upto if found else found)[-limit:] if limit else ()


@caught_by(
    "test_a_reset_turn_keeps_what_is_not_the_conversations",
    "test_a_turn_that_was_reset_writes_nothing",
)
class ResetsWhatIsStored(MemoryState):
    """A turn that runs during a reset writes its transcript into the new conversation."""

    async def reset(self, conversation: Conversation) -> None:
        """Reset, and leave the turn attached."""
        await super().reset(conversation)
        turn = self._record(conversation).turn
        if turn is not None:
            turn.detached = False


@caught_by("test_a_turn_that_begins_after_a_reset_writes")
class ResetsForGood(MemoryState):
    """The turns that begin after a reset are cut off as well, until the inbox is empty."""

    async def reset(self, conversation: Conversation) -> None:
        """Reset, and cut off what waits by leaving its mark on the record."""
        await super().reset(conversation)
        record = self._record(conversation)
        if record.turn is not None and record.inbox:
            record.entries = -(10**6)

    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """Show nothing that was written since."""
        found = await super().history(conversation, before=before, limit=limit)
        return tuple(entry for entry in found if entry.number > 0)


@caught_by(
    "test_many_followed_conversations_are_paged",
    "test_paging_survives_changes_in_between",
)
class RepeatsThePageEdge(MemoryState):
    """The last conversation of a page is the first of the next."""

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """Start each page with what ended the one before."""
        page = await super().subscriptions(cursor, limit - 1)
        if cursor is None:
            return page
        owner, _, channel = cursor.partition(" ")
        return replace(page, conversations=(Conversation(owner, channel), *page.conversations))


@caught_by("test_paging_survives_changes_in_between")
class PagesByOffset(MemoryState):
    """The cursor is a number of rows: a row that goes shifts the others past it."""

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """Skip as many as were told."""
        everything = (await super().subscriptions(None, 10**6)).conversations
        start = int(cursor or 0)
        end = start + limit
        return Subscriptions(everything[start:end], str(end) if end < len(everything) else None)


@caught_by("test_turns_leave_a_subscription_alone")
class UnfollowsWithTheTurn(MemoryState):
    """Who is followed no more is shown so only when nothing runs."""

    async def unsubscribe(self, conversation: Conversation) -> None:
        """Do nothing while a turn runs."""
        if self._record(conversation).turn is None:
            await super().unsubscribe(conversation)
