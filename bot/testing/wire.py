"""
A Discord in memory, behind the `Wire` that the core speaks through; faults as a test plans them.

It keeps what a channel would show: messages with every text they have had, reactions, and each
request that began.
"""

import asyncio
import itertools
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bot.inbound import Message
from bot.replies import Embed, File
from bot.snowflake import DISCORD_EPOCH
from bot.speaking import Button, NotSpeaking, Outgoing, OwnMessage, Rejected, Webhook, speaker

Answer = TypeVar("Answer")

#: The channel that is meant when none is named.
CHANNEL = "201"

_sequence = itertools.count()


def snowflake(age: float = 0.0) -> str:
    """Make an id as Discord would have *age* seconds ago; those of one age ascend."""
    milliseconds = int((time.time() - age) * 1000) - DISCORD_EPOCH
    return str((milliseconds << 22) + next(_sequence))


@dataclass(slots=True)
class Sent:
    """A message of ours on the fake Discord."""

    id: str
    channel: str
    text: str
    nonce: str
    reply_to: str | None
    ping: bool
    #: Each text it has shown, in order.
    texts: list[str]
    deleted: bool = False
    #: The interaction that it is the response to.
    answers: str | None = None
    #: The button of ours under it now.
    button: Button | None = None
    #: What else it carries now.
    files: tuple[File, ...] = ()
    embeds: tuple[Embed, ...] = ()
    buttons: tuple[Button, ...] = ()

    @property
    def file(self) -> bytes | None:
        """What is in its first file."""
        return self.files[0].data if self.files else None

    def carry(self, content: Outgoing) -> None:
        """Carry what *content* names, and go on carrying the rest."""
        pieces = content.pieces
        self.button, self.buttons = content.button, pieces.buttons
        self.files = self.files if pieces.files is None else pieces.files
        self.embeds = self.embeds if pieces.embeds is None else pieces.embeds

    def own(self, nonce: str | None) -> OwnMessage:
        """Read it back."""
        sizes = tuple(len(file.data) for file in self.files)
        answers = self.answers if self.text or self.files or self.embeds else None
        return OwnMessage(
            self.id, self.text, nonce, self.reply_to, answers, sizes, len(self.embeds)
        )


@dataclass(frozen=True, slots=True)
class Request:
    """A request that began. *at* is local monotonic."""

    method: str
    channel: str
    message: str | None
    text: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Fault:
    """
    What happens to one request: it waits for *hold*, then *error* is raised, if any.

    With *lost* it is carried out all the same, also when its sender is cancelled meanwhile.
    """

    error: Exception | None = None
    lost: bool = False
    hold: asyncio.Event | None = None


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
        self.messages.append(sent)
        return sent.id

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
