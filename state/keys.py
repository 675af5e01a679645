"""Whose things are: scopes of key-values, and the targets of a forget."""

from dataclasses import dataclass

from state.errors import Unacceptable
from state.ids import PAYLOAD_LIMIT, checked_id


@dataclass(frozen=True, slots=True)
class Owner:
    """All that belongs to one owner, as what a forget is about."""

    id: str

    def __post_init__(self) -> None:
        """Refuse ids that some store could not hold."""
        checked_id(self.id, "owner")


@dataclass(frozen=True, slots=True)
class Author:
    """All that one person wrote, under whichever owner, as what a forget is about."""

    id: str

    def __post_init__(self) -> None:
        """Refuse ids that some store could not hold."""
        checked_id(self.id, "author")


@dataclass(frozen=True, slots=True)
class Scope:
    """
    Whose key a key is: the owner's own, one conversation's, or one person's within that owner.

    Scopes never see each other's keys. All of an owner's live in its partition.
    """

    owner: str
    conversation: str | None = None
    person: str | None = None

    def __post_init__(self) -> None:
        """Refuse ids that some store could not hold, and a scope that would be two at once."""
        checked_id(self.owner, "owner")
        for what in ("conversation", "person"):
            if (value := getattr(self, what)) is not None:
                checked_id(value, what)
        if self.conversation is not None and self.person is not None:
            raise Unacceptable("a scope is a conversation's or a person's, not both")


@dataclass(frozen=True, slots=True)
class Put:
    """A key to write with a commit. A *value* of None deletes it."""

    scope: Scope
    key: str
    value: bytes | None
    #: Seconds until it is gone; None keeps it.
    ttl: float | None = None

    def __post_init__(self) -> None:
        """Refuse keys that some store could not hold, and values over `PAYLOAD_LIMIT`."""
        checked_id(self.key, "key")
        if self.value is not None and len(self.value) > PAYLOAD_LIMIT:
            raise Unacceptable(
                f"key {self.key}: {len(self.value)} bytes, {PAYLOAD_LIMIT} are allowed"
            )
