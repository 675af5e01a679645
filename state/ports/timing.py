"""The steps on timers."""

from typing import Protocol

from state.listings import Schedules
from state.values import (
    Conversation,
    Timer,
)


class Timing(Protocol):
    """Inbounds with a time."""

    async def schedule(self, conversation: Conversation, timer: Timer, *, op: str) -> int:
        """
        Set a timer, replacing one of its id; answer its generation, which grows.

        When it is due the conversation is, and whatever hands over next promotes it to an inbound
        `<id>@<generation>.<occurrence>` at the end of the inbox, beyond depth and share. A
        recurring one keeps its cadence; occurrences that were missed are made up for by
        `timer.catch_up`, with EACH at most the newest `CATCH_UP_LIMIT`.
        """
        ...

    async def unschedule(self, conversation: Conversation, timer: str) -> bool:
        """Remove a timer that has not fired; whether there was one, so a repeat says False."""
        ...

    async def schedules(self, owner: str, cursor: str | None = None, limit: int = 200) -> Schedules:
        """List the timers of exactly *owner*, page by page."""
        ...
