"""
Replies in threads: one is opened on the message that is answered, when there is something to show.

A thread has the id of the message that it was opened on, so its conversation is known before it is
there, and opening it again finds the same one. Where no thread can be opened, the reply goes to the
channel, as a reply to the message.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import structlog

from bot.inbound import Message
from bot.refusals import UNKNOWN_CHANNEL
from bot.speaking import Outgoing, OwnMessage, Rejected, Sight, Webhook, Wire

#: Characters of a thread's name. Relation: Discord allows 100, and shows fewer.
NAME = 80

#: What a thread is called that is opened on a message without words.
NAMELESS = "…"

log = structlog.get_logger(__name__)


def in_thread(message: Message) -> Message:
    """Lead what answers a guild's *message* into a thread on it, unless it stands in one."""
    if message.guild is None or message.parent is not None or not message.is_written:
        return message
    return replace(message, channel=message.id, parent=message.channel, written_in=message.channel)


def beside(message: Message, conversation: str) -> Message:
    """Let *message* be of a conversation that is led in a thread, if it stands outside of it."""
    if conversation == message.channel:
        return message
    home = message.channel
    return replace(message, channel=conversation, parent=home, written_in=home)


def thread_wire(
    wire: Wire, asked_by: Message, follow: Callable[[Message], Awaitable[None]]
) -> "ThreadWire | None":
    """Lead the reply to *asked_by* into a thread on it, if that is where it goes."""
    return ThreadWire(wire, asked_by, follow) if asked_by.written_in is not None else None


class ThreadWire:
    """The `Wire` of one turn that opens a thread."""

    def __init__(
        self, wire: Wire, asked_by: Message, follow: Callable[[Message], Awaitable[None]]
    ) -> None:
        """*follow* lets us hear what is said in the thread from then on."""
        self._wire = wire
        self._asked_by = asked_by
        self._follow = follow
        #: Where we speak; None until that was tried.
        self._spoken_in: str | None = None

    async def _where(self) -> str:
        """Open the thread, once; answer the channel to speak in."""
        if self._spoken_in is None:
            home = self._asked_by.home
            try:
                await self._wire.open_thread(
                    home, self._asked_by.channel, _name(self._asked_by), self._asked_by.author.id
                )
            except Rejected as error:
                if error.code == UNKNOWN_CHANNEL:
                    raise
                log.warning("no thread, replying in the channel", reason=str(error))
                self._spoken_in = home
            else:
                await self._follow(self._asked_by)
                self._spoken_in = self._asked_by.channel
        return self._spoken_in

    @property
    def webhook(self) -> Webhook:
        """As of the wire below."""
        return self._wire.webhook

    @property
    def sight(self) -> Sight:
        """As of the wire below."""
        return self._wire.sight

    def file_limit(self, guild: str | None) -> int:
        """As of the wire below."""
        return self._wire.file_limit(guild)

    async def open_thread(self, channel: str, message: str, name: str, person: str) -> None:
        """As of the wire below."""
        await self._wire.open_thread(channel, message, name, person)

    async def create(
        self, channel: str, content: Outgoing, *, nonce: str, reply_to: str | None, ping: bool
    ) -> OwnMessage:
        """Send it to the thread, where nothing can reply to what stands in the channel above."""
        del channel
        where = await self._where()
        if where != self._asked_by.home:
            reply_to, ping = None, False
        return await self._wire.create(where, content, nonce=nonce, reply_to=reply_to, ping=ping)

    async def edit(self, channel: str, message: str, content: Outgoing) -> None:
        """Edit it where it stands."""
        del channel
        await self._wire.edit(await self._where(), message, content)

    async def delete(self, channel: str, message: str) -> None:
        """Delete it where it stands."""
        del channel
        await self._wire.delete(await self._where(), message)

    async def recent(self, channel: str, after: str) -> Sequence[OwnMessage]:
        """Read back our own messages from where we speak."""
        del channel
        return await self._wire.recent(await self._where(), after)

    async def type(self, channel: str) -> None:
        """Show the indicator above, until the thread is there."""
        del channel
        await self._wire.type(self._spoken_in or self._asked_by.home)

    async def react(self, channel: str, message: str, emoji: str) -> None:
        """React where the message stands."""
        await self._wire.react(await self._stands_in(channel, message), message, emoji)

    async def unreact(self, channel: str, message: str, emoji: str) -> None:
        """Take a reaction back."""
        await self._wire.unreact(await self._stands_in(channel, message), message, emoji)

    async def _stands_in(self, channel: str, message: str) -> str:
        del channel
        return self._asked_by.home if message == self._asked_by.id else await self._where()


def _name(message: Message) -> str:
    """Call a thread by the first words of what is asked."""
    line = " ".join(message.text.split()) or NAMELESS
    return line if len(line) <= NAME else line[: NAME - 1].rstrip() + "…"
