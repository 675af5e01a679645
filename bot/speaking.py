"""What it takes to speak: Discord as a protocol, its refusals, and in whose name a task sends."""

from asyncio import Future
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from bot.inbound import Attached, Remark
from bot.locks import Holding
from bot.replies import Embed, File, Style
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


#: What a status line begins with: small print, and a sign that no text of ours begins a line with.
STATUS_SIGN = "-# ⋯ "

#: What tells that this turn is no longer, or may no longer be, ours to go on with: it is left as it
#: is to the next holder, and counts as no failure.
LEASE_GONE = (NotSpeaking, LeaseLost, StateUnavailable, Gone)


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message; *id* comes back with its press, even after a restart."""

    label: str
    id: str
    style: Style = "secondary"
    #: The page that it opens, instead of having an id.
    url: str = ""


#: What may be forbidden of what a message carries.
Kind: TypeAlias = Literal["files", "embeds"]


@dataclass(frozen=True, slots=True)
class Pieces:
    """
    What a message carries beside its text.

    Of files and embeds, None means none in a new message, and in an edit those that are there.
    """

    files: tuple[File, ...] | None = None
    embeds: tuple[Embed, ...] | None = None
    buttons: tuple[Button, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.files or self.embeds or self.buttons)

    def without(self, kind: Kind) -> "Pieces":
        """Leave out all of one kind."""
        return replace(self, embeds=None) if kind == "embeds" else replace(self, files=None)


NOTHING = Pieces()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The content of one message. *button* is ours, below those of the responder."""

    text: str
    pieces: Pieces = NOTHING
    button: Button | None = None
    #: A line of small print below the text that is no part of it.
    status: str = ""
    #: Id of the one person whom a mention in a new message may notify.
    notifies: str | None = None

    @property
    def content(self) -> str:
        """What Discord shows as the text."""
        return f"{self.text}\n{STATUS_SIGN}{self.status}".lstrip("\n") if self.status else self.text

    @property
    def likeness(self) -> str:
        """What tells this message from others of ours when it is read back."""
        files = tuple(len(file.data) for file in self.pieces.files or ())
        return likeness(self.content, files, len(self.pieces.embeds or ()))


@dataclass(frozen=True, slots=True)
class OwnMessage:
    """A message of ours, as read back from a channel."""

    id: str
    content: str
    nonce: str | None
    reply_to: str | None
    #: Id of the interaction that it is the response to, once it says more than "thinking…".
    answers: str | None = None
    #: The sizes of its files.
    files: tuple[int, ...] = ()
    embeds: int = 0

    @property
    def text(self) -> str:
        """Its text without a status line."""
        return self.content.removesuffix(STATUS_SIGN + self.status).rstrip("\n")

    @property
    def status(self) -> str:
        """The status line below its text."""
        last = self.content.rpartition("\n")[2]
        return last.removeprefix(STATUS_SIGN) if last.startswith(STATUS_SIGN) else ""

    @property
    def likeness(self) -> str:
        """As `Outgoing.likeness` when it was sent."""
        return likeness(self.content, self.files, self.embeds)


def likeness(content: str, files: Sequence[int], embeds: int) -> str:
    """
    Tell a message by its text, or without text by what it carries.

    Of one with text the rest does not count: Discord adds embeds to a text that has links.
    """
    return content or f"files {list(files)}, embeds {embeds}"


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


class Sight(Protocol):
    """What of Discord can be read. Every call may raise as those of `Wire`."""

    async def said(self, channel: str, *, before: str | None, limit: int) -> Sequence[Remark]:
        """What anybody wrote, the newest *limit* (≤ 100) before the id *before*, oldest first."""
        ...

    async def attached(self, channel: str, message: str) -> Sequence[Attached]:
        """The files of a message, with their addresses signed anew."""
        ...

    async def fetch(self, url: str, *, limit: int) -> bytes:
        """
        Fetch a file of Discord's; `Rejected` when its address has expired.

        Raise `AttachmentUnreadable` as soon as it proves to be larger than *limit* bytes, and for
        an address that is not Discord's.
        """
        ...


class Wire(Protocol):
    """Discord's side. Every call may raise `Rejected`, `Unreachable` or `NotSpeaking`."""

    @property
    def webhook(self) -> Webhook:
        """The way to those who used a command."""
        ...

    @property
    def sight(self) -> Sight:
        """What can be read there."""
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

    def file_limit(self, guild: str | None) -> int:
        """Bytes that a file may have there."""
        ...

    async def edit(self, channel: str, message: str, content: Outgoing) -> None:
        """Replace a message's text and buttons, and the files and embeds that *content* names."""
        ...

    async def delete(self, channel: str, message: str) -> None:
        """Delete a message; one that is gone already is fine."""
        ...

    async def recent(self, channel: str, after: str) -> Sequence[OwnMessage]:
        """Our own messages in *channel* after the message *after*, oldest first."""
        ...

    async def open_thread(self, channel: str, message: str, name: str, person: str) -> None:
        """
        Open a thread on a message and bring *person* in; one that is there already is fine.

        Its id is that of the message.
        """
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
