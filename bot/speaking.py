"""What it takes to speak: Discord as a protocol, its refusals, and in whose name a task sends."""

from asyncio import Future
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from bot.locks import Holding
from state.errors import Gone, LeaseLost, StateUnavailable

#: The holding in whose name this task sends. The client asks it at each request's start, because
#: discord.py waits and re-sends inside one call, and the lease may end meanwhile.
speaker: ContextVar[Holding | None] = ContextVar("speaker", default=None)


class Rejected(Exception):
    """Discord refused a request for good. *code* is Discord's own, *status* HTTP's."""

    def __init__(self, status: int, code: int, text: str = "") -> None:
        """Keep both numbers; the text is Discord's wording, for the log."""
        super().__init__(f"Discord answered {status} (code {code}): {text}")
        self.status = status
        self.code = code


class Unreachable(Exception):
    """Discord did not answer, or with 5xx: nothing is known about the outcome."""


class NotSpeaking(Exception):
    """A request was about to begin without a live lease."""


#: What tells that this turn is no longer, or may no longer be, ours to go on with: it is left as it
#: is to the next holder, and counts as no failure.
LEASE_GONE = (NotSpeaking, LeaseLost, StateUnavailable, Gone)


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message; *id* comes back with its press, even after a restart."""

    label: str
    id: str


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The content of one message: text, or text with the rest of a long reply as a file."""

    text: str
    file: bytes | None = None
    button: Button | None = None


@dataclass(frozen=True, slots=True)
class OwnMessage:
    """A message of ours, as read back from a channel."""

    id: str
    text: str
    nonce: str | None
    reply_to: str | None
    #: Id of the interaction that it is the response to, once it says more than "thinking…".
    answers: str | None = None


#: What the response to an interaction is called, whatever its id.
ORIGINAL = "@original"


class Webhook(Protocol):
    """
    What the token of an interaction allows, whether or not we may speak in the channel.

    Every call may raise what those of a `Wire` do, and waits for `acknowledged` first.
    """

    def wait_for(self, token: str, acknowledged: Future[None]) -> None:
        """Let calls by *token* begin after *acknowledged*: before, Discord knows no response."""
        ...

    async def edit(self, token: str, message: str, content: Outgoing) -> OwnMessage:
        """Replace the text and button of the response (`ORIGINAL`), or of a message of `send`."""
        ...

    async def send(self, token: str, content: Outgoing) -> OwnMessage:
        """Send one more message. There is no nonce: a repeat is a second message."""
        ...

    async def delete(self, token: str, message: str) -> None:
        """Delete the response, or a message of `send`; one that is gone already is fine."""
        ...

    async def thinks(self, token: str) -> bool:
        """Whether the response says nothing but "thinking…" yet."""
        ...


class Wire(Protocol):
    """Discord's side. Every call may raise `Rejected`, `Unreachable` or `NotSpeaking`."""

    @property
    def webhook(self) -> Webhook:
        """The way to those who used a command."""
        ...

    async def create(
        self, channel: str, content: Outgoing, *, nonce: str, reply_to: str | None, ping: bool
    ) -> OwnMessage:
        """
        Send a message that pings nobody (but the replied author, with *ping*).

        Answer the message as Discord has it: under a nonce that it knows, that is the one which an
        earlier request made, with the text of then.
        """
        ...

    async def edit(self, channel: str, message: str, content: Outgoing) -> None:
        """Replace a message's text and its button; its file stays."""
        ...

    async def delete(self, channel: str, message: str) -> None:
        """Delete a message; one that is gone already is fine."""
        ...

    async def recent(self, channel: str, after: str) -> Sequence[OwnMessage]:
        """Our own messages in *channel* after the message *after*, oldest first."""
        ...

    async def type(self, channel: str) -> None:
        """Show the typing indicator for ten seconds."""
        ...

    async def react(self, channel: str, message: str, emoji: str) -> None:
        """Add our reaction."""
        ...

    async def unreact(self, channel: str, message: str, emoji: str) -> None:
        """Remove our reaction; one that is gone already is fine."""
        ...
