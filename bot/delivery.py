"""
Pages to Discord: one reply's messages, sent, edited and marked, each at most once.

One writer task a reply, one request in flight, the newest text wins. A page is journaled before it
is sent and its message id after; the nonce of a create follows from the turn, so that a repeat,
by whichever process, is the same message to Discord.
"""

import asyncio
import hashlib
import math
import time
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import structlog

from bot.endings import Ending
from bot.insist import insist
from bot.locks import Holding
from state.errors import LeaseLost, StateUnavailable
from state.ports import State
from state.values import Page

#: Seconds between two edits of one message. Discord allows about five edits in five seconds per
#: channel; a request that had to wait stretches the pause to twice its own duration.
CADENCE = 1.0

#: Seconds that the first page waits for more text, unless the reply is complete: what is created is
#: what a phone's notification shows, and one word says nothing.
GATHER = 0.2

#: Seconds of Discord's nonce window that we trust ("the past few minutes", without a figure).
#: Beyond it an unknown outcome is settled by reading the channel.
NONCE_WINDOW = 120.0

#: Seconds between tries after an unknown outcome: doubled from the first to the last.
BACKOFF_FIRST, BACKOFF_LAST = 0.5, 8.0

#: The holding in whose name this task sends. The client asks it at each request's start, because
#: discord.py waits and re-sends inside one call, and the lease may end meanwhile.
speaker: ContextVar[Holding | None] = ContextVar("speaker", default=None)

log = structlog.get_logger(__name__)

# Discord's codes that a reply tells apart.
UNKNOWN_MESSAGE = 10008
CANNOT_READ_HISTORY = 160002


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


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The content of one message: text, or text with the rest of a long reply as a file."""

    text: str
    file: bytes | None = None


@dataclass(frozen=True, slots=True)
class OwnMessage:
    """A message of ours, as read back from a channel."""

    id: str
    text: str
    nonce: str | None
    reply_to: str | None


class Wire(Protocol):
    """Discord's side. Every call may raise `Rejected`, `Unreachable` or `NotSpeaking`."""

    async def create(
        self, channel: str, content: Outgoing, *, nonce: str, reply_to: str | None, ping: bool
    ) -> str:
        """Send a message that pings nobody (but the replied author, with *ping*); its id."""
        ...

    async def edit(self, channel: str, message: str, text: str) -> None:
        """Replace a message's text."""
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


def nonce(turn: str, number: int, issue: int, channel: str) -> str:
    """Derive the nonce of one page: 25 characters, Discord's longest, equal on every replay."""
    seed = f"{turn}\n{number}\n{issue}\n{channel}".encode()
    return urlsafe_b64encode(hashlib.sha256(seed).digest()).decode()[:25]


@dataclass(slots=True)
class Posted:
    """A page that is on Discord. *shown* is None when another process wrote it last."""

    #: None when it was delivered and then deleted by somebody.
    message: str | None
    issue: int
    shown: str | None
    #: Local monotonic time before which it is not edited again.
    editable: float = 0.0


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A page whose create may have been carried out; *since* is minus infinity after a crash."""

    page: Page
    since: float


class Reply:
    """The messages of one turn's reply."""

    def __init__(
        self, wire: Wire, state: State, holding: Holding, channel: str, reply_to: str, *, ping: bool
    ) -> None:
        """Answer message *reply_to* in *channel*, going on from the pages already journaled."""
        self._wire = wire
        self._state = state
        self._holding = holding
        self._channel = channel
        self._reply_to: str | None = reply_to
        self._after = reply_to
        self._ping = ping
        self._wanted: tuple[Outgoing, ...] = ()
        self._posted: dict[int, Posted] = {}
        self._unsettled: dict[int, Unsettled] = {}
        self._changed = asyncio.Event()
        self._hurried = asyncio.Event()
        self._broken: Exception | None = None
        for page in holding.started.pages:  # in (number, issue) order: the newest issue counts
            self._adopt(page)
        self._writer = self._start_writer()

    def _start_writer(self) -> asyncio.Task[None]:
        name = f"writer {self._holding.lease.turn}"
        return asyncio.create_task(self._write(), name=name)

    def _adopt(self, page: Page) -> None:
        self._unsettled.pop(page.number, None)
        if page.message_id is None:
            self._unsettled[page.number] = Unsettled(page, -math.inf)
        else:
            self._posted[page.number] = Posted(page.message_id, page.issue, None)

    # --- what a turn calls -----------------------------------------------------------------------

    def show(self, pages: Sequence[Outgoing]) -> None:
        """Want these pages on Discord; return at once. The newest call wins."""
        if self._broken is None:
            self._wanted = tuple(pages)
            self._changed.set()

    @property
    def begun(self) -> bool:
        """Whether any page is on Discord."""
        return bool(self._posted)

    @property
    def broken(self) -> Exception | None:
        """What made it impossible to go on, if anything did."""
        return self._broken

    @property
    def overtaken(self) -> bool:
        """Whether this run has rewritten all that a forerunner of it had put on Discord."""
        return all(posted.shown is not None for posted in self._posted.values())

    @property
    def shown(self) -> str:
        """The text of this run that is on Discord now."""
        pages = sorted(self._posted.items())
        return "".join(posted.shown for _, posted in pages if posted.shown is not None)

    async def land(self, pages: Sequence[Outgoing]) -> None:
        """
        Show *pages* and return when all of it is on Discord and nothing else of this reply is.

        Raise what made it impossible: `Rejected`, `NotSpeaking`, `LeaseLost`, `StateUnavailable`.
        """
        self._hurried.set()
        self.show(pages)
        if self._writer.done() and self._broken is None:
            self._writer = self._start_writer()
        await asyncio.wait({self._writer})
        if self._broken is not None:
            raise self._broken
        for number in sorted(self._posted, reverse=True):
            if number >= len(pages):
                await self._insist(self._delete, number)

    async def freeze(self, seconds: float) -> None:
        """Send nothing more. A request in flight gets *seconds* to end, then is abandoned."""
        self._wanted = ()
        self._hurried.set()
        self._changed.set()
        await asyncio.wait({self._writer}, timeout=seconds)
        self._writer.cancel()
        await asyncio.wait({self._writer})

    async def mark(self, mark: str, emoji: str) -> None:
        """
        Put *mark* behind what is on Discord, or *emoji* on it where its text is not known here.

        For a reply that was frozen: nothing that was not there yet is added.
        """
        number = max(self._posted, default=None)
        last = self._posted[number] if number is not None else None
        if last is not None and last.message is not None and last.shown is not None:
            await self._wire.edit(self._channel, last.message, last.shown + mark)
        else:
            message = last.message if last else None
            await self._wire.react(self._channel, message or self._after, emoji)

    # --- the writer ------------------------------------------------------------------------------

    async def _write(self) -> None:
        speaker.set(self._holding)
        try:
            while not (self._hurried.is_set() and self._stale() is None):
                self._changed.clear()
                if (number := self._stale()) is not None:
                    await self._pause(number)
                    await self._insist(self._put, number)
                elif not self._hurried.is_set():
                    await self._changed.wait()
        except (Rejected, NotSpeaking, LeaseLost, StateUnavailable) as error:
            self._break(error)

    def _break(self, error: Exception) -> None:
        """Note that nothing more can be said, and end the turn for it."""
        self._broken = error
        lost = isinstance(error, NotSpeaking | LeaseLost)
        self._holding.cancel(Ending.LOST if lost else Ending.FAILED)

    def _stale(self) -> int | None:
        """The first page that is not on Discord as wanted: one to create before one to edit."""
        for number in range(len(self._wanted)):
            if number not in self._posted:
                return number
        for number, content in enumerate(self._wanted):
            posted = self._posted[number]
            # What another process wrote is left alone until this run has something as long.
            awaited = posted.shown is None and not self._hurried.is_set()
            if posted.shown != content.text and not (awaited and number == len(self._wanted) - 1):
                return number
        return None

    async def _pause(self, number: int) -> None:
        """Keep the cadence of edits, and let the first page gather; a final text does not wait."""
        posted = self._posted.get(number)
        if posted is not None:
            wait = posted.editable - time.monotonic()
        else:
            wait = GATHER if number == 0 else 0.0
        if wait > 0 and not self._hurried.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), wait)

    async def _put(self, number: int) -> None:
        """Bring one page to its wanted content, which may have changed while we waited."""
        if number >= len(self._wanted):
            return
        content = self._wanted[number]
        if number in self._posted:
            await self._edit(number, content)
        else:
            await self._create(number, content)

    async def _create(self, number: int, content: Outgoing, issue: int = 0) -> None:
        """Journal the page's intent, send it unless it is there already, journal its id."""
        begun = time.monotonic()
        unsettled = self._unsettled.get(number)
        issue = unsettled.page.issue if unsettled else issue
        intent = content.text.encode("utf-8", "replace")
        page = await insist(lambda: self._state.page(self._holding.lease, number, issue, intent))
        found, shown = page.message_id, None
        if found is None and unsettled and begun - unsettled.since > NONCE_WINDOW:
            found = await self._find(page)
        if found is None:
            found, shown = await self._send(page, content), content.text
        if found is not None:
            message = found
            await insist(lambda: self._state.posted(self._holding.lease, number, issue, message))
        self._unsettled.pop(number, None)
        self._posted[number] = Posted(found, issue, shown, _editable(begun))
        self._holding.progress()

    async def _send(self, page: Page, content: Outgoing) -> str | None:
        """Create the message; None when this very create was delivered before and then deleted."""
        reply_to = self._reply_to if page.number == 0 else None
        ours = nonce(self._holding.lease.turn, page.number, page.issue, self._channel)
        try:
            return await self._wire.create(
                self._channel, content, nonce=ours, reply_to=reply_to, ping=self._ping
            )
        except Unreachable:
            self._unsettled.setdefault(page.number, Unsettled(page, time.monotonic()))
            raise
        except Rejected as error:
            if error.code == UNKNOWN_MESSAGE:
                return None
            if error.code != CANNOT_READ_HISTORY or reply_to is None:
                raise
            self._reply_to = None  # replying needs the right to read history: send it plainly
            return await self._send(page, content)

    async def _find(self, page: Page) -> str | None:
        """Look in the channel for a page that may be there: by nonce, by reply, by exact text."""
        try:
            recent = await self._wire.recent(self._channel, self._after)
        except Rejected:  # no right to read history: the nonce has to do
            return None
        taken = {posted.message for posted in self._posted.values()}
        free = [message for message in recent if message.id not in taken]
        ours = nonce(self._holding.lease.turn, page.number, page.issue, self._channel)
        first, intent = page.number == 0, page.intent.decode()
        marks: tuple[Callable[[OwnMessage], bool], ...] = (
            lambda message: message.nonce == ours,
            lambda message: first and message.reply_to == self._after,
            lambda message: message.text == intent,
        )
        for mark in marks:
            if found := next((message.id for message in free if mark(message)), None):
                return found
        return None

    async def _edit(self, number: int, content: Outgoing) -> None:
        posted, begun = self._posted[number], time.monotonic()
        if posted.message is None or content.file is not None:  # deleted, or a file: left as it is
            posted.shown = content.text
            return
        try:
            await self._wire.edit(self._channel, posted.message, content.text)
        except Rejected as error:
            if error.code != UNKNOWN_MESSAGE or posted.issue > 0:
                raise
            # Somebody deleted the page: send it anew, once, as its next issue.
            del self._posted[number]
            await self._create(number, content, posted.issue + 1)
            return
        posted.shown = content.text
        posted.editable = _editable(begun)
        self._holding.progress()

    async def _delete(self, number: int) -> None:
        if (message := self._posted[number].message) is not None:
            await self._wire.delete(self._channel, message)
        del self._posted[number]

    async def _insist(self, request: Callable[[int], Awaitable[None]], number: int) -> None:
        """Repeat a request whose outcome is unknown, for as long as the lease lives."""
        pause = BACKOFF_FIRST
        while True:
            try:
                return await request(number)
            except Unreachable as error:
                log.warning("discord unreachable, repeating", page=number, reason=str(error))
            if not self._holding.may_speak:
                raise NotSpeaking
            await asyncio.sleep(pause)
            pause = min(pause * 2, BACKOFF_LAST)


def _editable(begun: float) -> float:
    """When a message may be edited after a request that began at *begun*, local monotonic."""
    now = time.monotonic()
    return now + max(CADENCE - (now - begun), now - begun)
