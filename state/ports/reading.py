"""The steps that read, and the set of followed conversations."""

from typing import Protocol

from state.outcomes import (
    Due,
    Entry,
    Subscriptions,
    View,
)
from state.values import (
    Conversation,
)


class Reading(Protocol):
    """Views, due work, transcripts and subscriptions."""

    async def due(self, partition: int, limit: int, *, ahead: float = 0.0) -> Due:
        """
        List conversations of one partition whose wake has come, and unfinished signals.

        Read only; at most *limit* of each, the earliest wake first. Two callers may see the same:
        `claim` gives a conversation to one of them. With *ahead* also those whose wake comes within
        so many seconds: what runs, waits or is scheduled, for an operator to look at.
        """
        ...

    async def view(self, conversation: Conversation) -> View:
        """Show the turn, what waits and the wake of one conversation; change nothing."""
        ...

    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """Answer the newest *limit* transcript entries (numbered below *before*), oldest first."""
        ...

    async def reset(self, conversation: Conversation) -> None:
        """
        Drop transcript and state now, whatever runs.

        A turn that runs meanwhile ends without writing either, so that what it says belongs to the
        conversation that was ended.
        """
        ...

    async def subscribe(self, conversation: Conversation) -> None:
        """Follow a conversation. Following it already is fine."""
        ...

    async def unsubscribe(self, conversation: Conversation) -> None:
        """Follow it no more. Not following it is fine."""
        ...

    async def is_subscribed(self, conversation: Conversation) -> bool:
        """Whether the conversation is followed."""
        ...

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """List followed conversations by pages, no repeats or gaps among those that stay."""
        ...
