"""
One message as plain data: what is journaled, queued and handed to a responder.

The store keeps it as opaque bytes. The version leads, so that a process can refuse what a newer
one wrote instead of guessing.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from bot.config import Place
from bot.errors import PayloadUnreadable
from state.values import Conversation, Inbound

#: Raised whenever a field changes its meaning; older versions stay readable.
VERSION = 1

#: Files of one message that are journaled with it: as many as a person can send at once.
MOST_ATTACHED = 10


@dataclass(frozen=True, slots=True)
class Person:
    """Who wrote a message."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Attached:
    """A file of a message, as Discord tells of it; the bytes stay there."""

    id: str
    name: str
    #: Such as `image/png`, by Discord's word and not by the bytes; None when it could not tell.
    content_type: str | None
    #: Bytes.
    size: int
    #: Signed: good for about a day.
    url: str
    #: What its sender wrote for those who cannot see it.
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Quoted:
    """The message that another one replies to."""

    id: str
    author: Person
    text: str
    attachments: tuple[Attached, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """A message that was written around a question, whoever it was addressed to."""

    id: str
    author: Person
    #: Without our own mention, and with people's names for theirs.
    text: str
    #: Whether this bot wrote it.
    ours: bool = False


class Kind(StrEnum):
    """What can ask for a turn."""

    MESSAGE = "message"
    COMMAND = "command"
    BUTTON = "button"
    TIMER = "timer"


@dataclass(frozen=True, slots=True)
class Trigger:
    """What asked for a turn, and the JSON that came with it."""

    kind: Kind = Kind.MESSAGE
    #: Of the command, the button or the timer.
    name: str = ""
    #: A command's options, a button's payload, what a timer was set with; None for a message.
    payload: Any = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Deferred:
    """What it takes to answer an interaction, which shows "thinking…" until then."""

    #: Whoever has it may speak in the place of the response for a quarter of an hour: it is kept
    #: with the inbound, so that another process can answer, and never logged.
    token: str = field(repr=False)
    #: Whether we may also speak in the channel, as its member; else the token is the only way.
    speaks: bool = True


@dataclass(frozen=True, slots=True)
class Message:
    """One inbound. *text* is without our own mention; ids are Discord's, as strings."""

    id: str
    channel: str
    #: None in a direct message.
    guild: str | None
    author: Person
    text: str
    #: Whether it addressed us, as opposed to being heard in a followed conversation.
    addressed: bool
    #: Name of the cog that answers it, fixed here so that a reload never swaps code under a replay;
    #: empty until the door has decided.
    responder: str
    reply_to: Quoted | None = None
    #: Whether its conversation is followed and all that was written before it there has been heard,
    #: so that the next start may go on from here.
    caught_up: bool = False
    #: The channel that a thread is in; None outside threads.
    parent: str | None = None
    #: The category that the channel, or the thread's channel, is in.
    category: str | None = None
    trigger: Trigger = Trigger()
    #: Of an interaction; its id is that of the inbound.
    deferred: Deferred | None = None
    #: At most `MOST_ATTACHED`.
    attachments: tuple[Attached, ...] = ()
    #: The channel that it stands in, when its conversation is to be a thread on it.
    written_in: str | None = None

    @property
    def home(self) -> str:
        """The channel that it stands in."""
        return self.written_in or self.channel

    @property
    def conversation(self) -> Conversation:
        """The conversation it belongs to: its channel, owned by its guild or its person."""
        return conversation_of(self.channel, self.guild, self.author.id)

    @property
    def is_written(self) -> bool:
        """Whether it is on Discord, as a message that can be marked and replied to."""
        return self.trigger.kind is Kind.MESSAGE

    @property
    def place(self) -> Place:
        """Where it was written, as settings for single places see it."""
        return Place(self.channel, self.parent, self.category, self.guild)

    def inbound(self) -> Inbound:
        """Pack it for the store."""
        body = json.dumps({"v": VERSION, **asdict(self)}, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate (which JSON can carry and UTF-8 cannot) must not lose the message.
        return Inbound(self.id, self.author.id, body.encode("utf-8", "replace"))


def conversation_of(channel: str, guild: str | None, person: str) -> Conversation:
    """Name a conversation; a direct message belongs to the person it is with."""
    return Conversation(f"guild/{guild}" if guild else f"user/{person}", channel)


def unpack(inbound: Inbound) -> Message:
    """Read what `Message.inbound` wrote, or raise `PayloadUnreadable` naming what is wrong."""
    try:
        body = json.loads(inbound.payload)
        version = body.pop("v")
        if version != VERSION:
            msg = f"inbound {inbound.id}: payload version {version}, this build reads {VERSION}"
            raise PayloadUnreadable(msg)
        parts: dict[str, Any] = {
            "author": Person(**body["author"]),
            "reply_to": _quoted(body),
            "trigger": _trigger(body),
            "deferred": _deferred(body),
            "attachments": _attached(body),
        }
        return Message(**{**body, **parts})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"inbound {inbound.id}: unreadable payload ({type(error).__name__})"
        raise PayloadUnreadable(msg) from None


def _quoted(body: Mapping[str, Any]) -> Quoted | None:
    quoted = body["reply_to"]
    if not quoted:
        return None
    author = Person(**quoted["author"])
    return Quoted(quoted["id"], author, quoted["text"], _attached(quoted))


def _attached(body: Mapping[str, Any]) -> tuple[Attached, ...]:
    return tuple(Attached(**one) for one in body.get("attachments", ()))  # older ones have none


def _trigger(body: Mapping[str, Any]) -> Trigger:
    trigger = body.get("trigger", {"kind": Kind.MESSAGE})  # older payloads have none
    return Trigger(**{**trigger, "kind": Kind(trigger["kind"])})


def _deferred(body: Mapping[str, Any]) -> Deferred | None:
    deferred = body.get("deferred")  # older payloads have none
    return Deferred(**deferred) if deferred else None
