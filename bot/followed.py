"""Which conversations are followed, known without asking the store for every message."""

import asyncio

import structlog

from bot.insist import insist
from state.errors import StateUnavailable
from state.ports import State
from state.values import Conversation

#: Seconds between two readings of the whole list, for what other processes follow meanwhile.
REFRESH = 60.0

log = structlog.get_logger(__name__)


class Followed:
    """The copy of the subscriptions that this process judges by."""

    def __init__(self, state: State) -> None:
        """Start empty; `run` fills it."""
        self._state = state
        self._ids: frozenset[str] = frozenset()
        #: What was followed (True) or left here since the reading under way began.
        self._meanwhile: dict[str, bool] = {}

    def __contains__(self, conversation: object) -> bool:
        """Whether the conversation of that id is followed."""
        return conversation in self._ids

    async def run(self) -> None:
        """Read the list every minute until cancelled."""
        while True:
            try:
                await self.read()
            except StateUnavailable as error:
                log.warning("subscriptions not read", reason=str(error))
            await asyncio.sleep(REFRESH)

    async def read(self) -> None:
        """Read the whole list once."""
        self._meanwhile = {}
        ids: set[str] = set()
        cursor: str | None = None
        while True:
            page = await self._state.subscriptions(cursor)
            ids.update(conversation.id for conversation in page.conversations)
            if (cursor := page.cursor) is None:
                break
        # The list was read page by page, and may not know of what happened in between.
        ids.update(one for one, follows in self._meanwhile.items() if follows)
        ids.difference_update(one for one, follows in self._meanwhile.items() if not follows)
        self._ids = frozenset(ids)

    async def follow(self, conversation: Conversation) -> None:
        """Follow a conversation from now on."""
        await insist(lambda: self._state.subscribe(conversation))
        self._ids |= {conversation.id}
        self._meanwhile[conversation.id] = True

    async def unfollow(self, conversation: Conversation) -> None:
        """Follow it no more."""
        await insist(lambda: self._state.unsubscribe(conversation))
        self.drop(conversation)

    def drop(self, conversation: Conversation) -> None:
        """Note that the store does not have it any more."""
        self._ids -= {conversation.id}
        self._meanwhile[conversation.id] = False
