"""The operator's steps: dead letters, and forgetting."""

from typing import Protocol

from state.keys import Author, Owner
from state.listings import DeadLetters
from state.outcomes import (
    Forgetting,
)
from state.values import (
    Conversation,
)


class Operating(Protocol):
    """What operators do to conversations, and what the law asks of them."""

    async def dead_letters(
        self, owner: str | None, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """
        List the dead letters of exactly *owner*, the oldest of a conversation first.

        None lists those of every owner.
        """
        ...

    async def requeue(self, conversation: Conversation, letter: str, *, op: str) -> bool:
        """
        Put a dead letter's inbounds back at the end of the inbox; whether there was such a letter.

        They keep their ids, as one turn, beyond depth and share; the conversation is due. A record
        that could not be read has none, and is left where it is: False.
        """
        ...

    async def discard(self, conversation: Conversation, letter: str) -> bool:
        """Drop a dead letter for good; whether there was such a letter, so a repeat says False."""
        ...

    async def forget(
        self, target: Owner | Conversation | Author, *, limit: int = 200
    ) -> Forgetting:
        """
        Remove one batch of everything known of *target*; to be called until it is done.

        The first call replaces the tokens of what is held, so that holders are refused from then
        on, and leaves a tombstone; until the last call removes it, every step that would change a
        conversation in *target* raises `Gone`, and so does every admit of an author who is
        *target*. Afterwards a new message is as the first one.

        A conversation or an owner leaves nothing but usage. An author's text leaves inboxes, turns,
        takes, timers, transcripts, dead letters and key-values of scope person, in every
        conversation; other people's stays. A turn that the author takes part in is ended, its steps
        and pages dropped; what others have in it waits again, first in line. Which transcript
        entries are the author's, `Changes.authors` said; of what could not be read, all that names
        the author goes. What only waits for its window to close,
        answers and those to repeats, goes with it.
        """
        ...
