"""The steps on key-values, usage and answers."""

from typing import Protocol

from state.keys import Scope
from state.values import (
    Conversation,
)


class Keeping(Protocol):
    """
    Small things kept beside conversations.

    Keys are at most 128 of the characters of an id, values at most `PAYLOAD_LIMIT` bytes. A *ttl*
    is in seconds: the key is readable before, gone after; None keeps it.
    """

    async def get(self, scope: Scope, key: str) -> bytes | None:
        """Answer the value, None if there is none. An empty value is not an absent one."""
        ...

    async def put(self, scope: Scope, key: str, value: bytes, *, ttl: float | None = None) -> None:
        """Write the value and its time to live, whatever was there."""
        ...

    async def put_if_absent(
        self, scope: Scope, key: str, value: bytes, *, op: str, ttl: float | None = None
    ) -> bool:
        """Write the value if there is none; whether this call did. Of several at once one does."""
        ...

    async def delete(self, scope: Scope, key: str) -> None:
        """Remove a value, list or counter. One that is not there is fine."""
        ...

    async def append(
        self, scope: Scope, key: str, value: bytes, *, most: int, op: str, ttl: float | None = None
    ) -> int:
        """Append to a list, cut it to its newest *most*, refresh its *ttl*; answer its length."""
        ...

    async def items(self, scope: Scope, key: str) -> tuple[bytes, ...]:
        """Answer a list in its order, empty if there is none."""
        ...

    async def increment(
        self, scope: Scope, key: str, *, op: str, by: int = 1, window: float | None = None
    ) -> int:
        """
        Add to a counter and answer its sum.

        With a *window* in seconds the counter starts at the first increment and is gone that long
        after it; later increments do not prolong it.
        """
        ...

    async def usage(self, owner: str, day: str) -> dict[str, int]:
        """Answer what commits added up for *owner* on *day* (`2026-01-31`, UTC of the store)."""
        ...

    async def answer(self, conversation: Conversation, inbound: str) -> bytes | None:
        """Answer what was committed as the answer to *inbound*, for `ANSWER_WINDOW`."""
        ...
