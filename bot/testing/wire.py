"""
A Discord in memory, behind the `Wire` that the core speaks through; faults as a test plans them.

It keeps what a channel would show: messages with every text they have had, reactions, and each
request that began.
"""

import asyncio
import mimetypes
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from bot.inbound import Attached, Message, Remark
from bot.speaking import (
    NotSpeaking,
    Outgoing,
    OwnMessage,
    Rejected,
    Sight,
    Webhook,
    speaker,
)
from bot.testing.traffic import CHANNEL, Fault, Request, Sent, snowflake

Answer = TypeVar("Answer")

#: Decides what a request meets, by its number (from 0) and method.
Plan = Callable[[int, str], Fault | None]


class Discord:
    """What is on Discord, what was asked of it, and what goes wrong next."""

    def __init__(self) -> None:
        self.messages: list[Sent] = []
        #: (message, emoji) → how often it was added, and removed.
        self.added: Counter[tuple[str, str]] = Counter()
        self.removed: Counter[tuple[str, str]] = Counter()
        self.requests: list[Request] = []
        #: The names of the threads, by the message that each was opened on.
        self.threads: dict[str, str] = {}
        #: What people have said, by whomever it was heard.
        self.remarks: list[Remark] = []
        #: The bytes behind each address that is good now.
        self.files: dict[str, bytes] = {}
        #: The files of messages, as they are told when one is read again.
        self.attached: dict[str, tuple[Attached, ...]] = {}
        self.faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        #: What any further request meets, decided by its number (from 0) and method.
        self.plan: Plan = lambda _number, _method: None
        #: The most requests that were ever in flight at once about one message's text.
        self.busiest = 0
        #: How long Discord knows a nonce: False means that it has forgotten all of them.
        self.knows_nonces = True
        #: Whether a message that is read back tells its nonce.
        self.shows_nonces = True
        self._in_flight: Counter[str] = Counter()

    def put(
        self,
        text: str,
        *,
        nonce: str = "another's",
        reply_to: str | None = None,
        channel: str = CHANNEL,
        ping: bool = False,
        content: Outgoing | None = None,
    ) -> str:
        """Put a message of ours there, which carries what *content* does; answer its id."""
        sent = Sent(snowflake(), channel, text, nonce, reply_to, ping, [text])
        sent.carry(content or Outgoing(text))
        sent.notifies = content.notifies if content else None
        self.messages.append(sent)
        return sent.id

    def attach(self, message: str, name: str, content: bytes) -> Attached:
        """Put a file of a person's there, on *message*."""
        url = f"https://cdn.discordapp.com/attachments/{message}/{name}"
        self.files[url] = content
        kind = mimetypes.guess_type(name)[0]
        file = Attached(snowflake(), name, kind, len(content), url)
        self.attached[message] = (*self.attached.get(message, ()), file)
        return file

    def next(self, method: str, *faults: Fault | Exception) -> None:
        """Let the next requests of *method* meet *faults*, one each."""
        self.faults[method] += [
            Fault(fault) if isinstance(fault, Exception) else fault for fault in faults
        ]

    def visible(self, channel: str = CHANNEL) -> list[str]:
        """List the texts that a person sees of us."""
        return [m.text for m in self.messages if m.channel == channel and not m.deleted]

    def replies(self, message: Message) -> list[str]:
        """List the texts of the visible replies to *message*."""
        return [m.text for m in self.messages if m.reply_to == message.id and not m.deleted]

    def reactions(self, message: str) -> set[str]:
        """List our reactions that a person sees on *message*."""
        shown = self.added - self.removed
        return {emoji for on, emoji in shown if on == message}

    def asked(self, *methods: str) -> list[Request]:
        """List the requests of *methods* that began."""
        return [request for request in self.requests if request.method in methods]

    def find(self, message: str) -> Sent:
        """Look a message up as Discord does for an edit."""
        found = next((m for m in self.messages if m.id == message and not m.deleted), None)
        if found is None:
            raise Rejected(404, 10008, "Unknown Message")
        return found

    async def carry_out(
        self, request: Request, act: Callable[[], Answer], flight: str | None
    ) -> Answer:
        """Carry a request out, or let it meet its fault."""
        planned = self.faults[request.method]
        fault = planned.popleft() if planned else self.plan(len(self.requests), request.method)
        fault = fault or Fault()
        self.requests.append(request)
        if flight is not None:
            self._in_flight[flight] += 1
            self.busiest = max(self.busiest, self._in_flight[flight])
        try:
            await asyncio.sleep(0)
            if fault.hold is not None:
                await fault.hold.wait()
            if fault.error is not None and not fault.lost:
                raise fault.error
        except asyncio.CancelledError:
            if fault.lost:
                act()
            raise
        finally:
            if flight is not None:
                self._in_flight[flight] -= 1
        answer = act()
        await asyncio.sleep(0)
        if fault.error is not None:
            raise fault.error
        return answer


class FakeWire:
    """
    One process's line to the fake Discord. A cut one carries nothing, as after a kill -9.

    Where commands are used, it is given a `bot.testing.webhook.FakeWebhook`.
    """

    webhook: Webhook
    #: Where turns look around, it is given a `bot.testing.sight.FakeSight`.
    sight: Sight

    def __init__(self, discord: Discord) -> None:
        self.discord = discord
        self.cut = False

    async def request(
        self,
        method: str,
        channel: str,
        act: Callable[[], Answer],
        *,
        message: str | None = None,
        text: str | None = None,
        flight: str | None = None,
    ) -> Answer:
        """Begin a request in whoever's name this task speaks."""
        holding = speaker.get()
        if holding is not None and not holding.may_speak:  # as the real client's trace does
            raise NotSpeaking
        if self.cut:
            await asyncio.Event().wait()
        request = Request(method, channel, message, text, time.monotonic())
        return await self.discord.carry_out(request, act, flight)

    async def create(
        self, channel: str, content: Outgoing, *, nonce: str, reply_to: str | None, ping: bool
    ) -> OwnMessage:
        """Send a message; one under a known nonce is answered as it is by now."""

        def act() -> str:
            known = [m for m in self.discord.messages if m.nonce == nonce]
            if known and self.discord.knows_nonces:
                return self.discord.find(known[0].id).id
            return self.discord.put(
                content.content,
                nonce=nonce,
                reply_to=reply_to,
                channel=channel,
                ping=ping,
                content=content,
            )

        id_ = await self.request("create", channel, act, text=content.content, flight=channel)
        return self.discord.find(id_).own(nonce)

    def file_limit(self, guild: str | None) -> int:
        """Take as much as Discord does in any place."""
        return 10 << 20

    async def edit(self, channel: str, message: str, content: Outgoing) -> None:
        """Replace its text."""
        text = content.content

        def act() -> None:
            sent = self.discord.find(message)
            sent.text = text
            sent.texts.append(text)
            sent.carry(content)

        await self.request("edit", channel, act, message=message, text=text, flight=message)

    async def delete(self, channel: str, message: str) -> None:
        """Delete it."""

        def act() -> None:
            for sent in self.discord.messages:
                sent.deleted |= sent.id == message

        await self.request("delete", channel, act, message=message, flight=message)

    async def recent(self, channel: str, after: str) -> Sequence[OwnMessage]:
        """Read back what is ours."""

        def act() -> list[OwnMessage]:
            return [
                m.own(m.nonce if self.discord.shows_nonces and m.answers is None else None)
                for m in self.discord.messages
                if m.channel == channel and not m.deleted and int(m.id) > int(after)
            ]

        return await self.request("recent", channel, act)

    async def open_thread(self, channel: str, message: str, name: str, person: str) -> None:
        """Open a thread on a message."""

        def act() -> None:
            self.discord.threads[message] = name

        await self.request("open_thread", channel, act, message=message, text=name)

    async def type(self, channel: str) -> None:
        """Show the indicator."""
        await self.request("type", channel, lambda: None)

    async def react(self, channel: str, message: str, emoji: str) -> None:
        """Add our reaction."""

        def act() -> None:
            self.discord.added[message, emoji] += 1

        await self.request("react", channel, act, message=message, text=emoji)

    async def unreact(self, channel: str, message: str, emoji: str) -> None:
        """Remove our reaction."""

        def act() -> None:
            self.discord.removed[message, emoji] += 1

        await self.request("unreact", channel, act, message=message, text=emoji)
