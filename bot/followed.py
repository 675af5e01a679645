"""Which conversations are followed, known without asking the store for every message."""

import asyncio

import structlog

from bot.insist import insist
from state.errors import StateUnavailable
from state.keys import Put, Scope
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
        self._known: dict[str, Conversation] = {}
        #: What was followed (True) or left here since the reading under way began.
        self._meanwhile: dict[Conversation, bool] = {}

    def __contains__(self, conversation: object) -> bool:
        """Whether the conversation of that id is followed."""
        return conversation in self._known

    @property
    def conversations(self) -> list[Conversation]:
        """All of them, as far as this process knows."""
        return list(self._known.values())

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
        known: dict[str, Conversation] = {}
        cursor: str | None = None
        while True:
            page = await self._state.subscriptions(cursor)
            known.update((conversation.id, conversation) for conversation in page.conversations)
            if (cursor := page.cursor) is None:
                break
        # The list was read page by page, and may not know of what happened in between.
        for conversation, follows in self._meanwhile.items():
            if follows:
                known[conversation.id] = conversation
            else:
                known.pop(conversation.id, None)
        self._known = known

    async def follow(self, conversation: Conversation, heard: str) -> None:
        """Follow a conversation from now on; *heard* is the id of what made us follow it."""
        await insist(lambda: self._state.subscribe(conversation))
        put = heard_up_to(conversation, heard)
        await insist(lambda: self._state.put(put.scope, put.key, put.value or b""))
        self._known[conversation.id] = conversation
        self._meanwhile[conversation] = True

    async def unfollow(self, conversation: Conversation) -> None:
        """Follow it no more."""
        await insist(lambda: self._state.unsubscribe(conversation))
        put = heard_up_to(conversation, "")
        await insist(lambda: self._state.delete(put.scope, put.key))
        self.drop(conversation)

    async def heard(self, conversation: Conversation) -> str | None:
        """The newest message that was answered there, or the one that made us follow it."""
        put = heard_up_to(conversation, "")
        value = await self._state.get(put.scope, put.key)
        return value.decode() if value else None

    def drop(self, conversation: Conversation) -> None:
        """Note that the store does not have it any more."""
        self._known.pop(conversation.id, None)
        self._meanwhile[conversation] = False


def heard_up_to(conversation: Conversation, message: str) -> Put:
    """How far a followed conversation has been heard, as a key to be written."""
    return Put(Scope(conversation.owner, conversation.id), "heard", message.encode())
