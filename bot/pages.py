"""
One page of a reply: journaled, sent under its nonce, found again after a crash, edited.

Its intent is journaled before the request and its message id after. The nonce follows from the
turn, so that a repeat, by whichever process, is the same message to Discord.
"""

import asyncio
import hashlib
import math
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from bot.insist import insist
from bot.locks import Holding
from bot.pace import Pace
from bot.refusals import CANNOT_READ_HISTORY, SEND_ANEW, UNKNOWN_MESSAGE
from bot.speaking import Button, Outgoing, OwnMessage, Rejected, Unreachable, Wire
from state.ports import State
from state.values import Page

#: Seconds of Discord's nonce window that we trust ("the past few minutes", without a figure).
#: Beyond it an unknown outcome is settled by reading the channel.
NONCE_WINDOW = 120.0

#: Deliberate re-sends of one page; a channel where each is deleted at once is given up.
MAX_ISSUES = 3


def nonce(turn: str, number: int, issue: int, channel: str) -> str:
    """Derive the nonce of one page: 25 characters, Discord's longest, equal on every replay."""
    seed = f"{turn}\n{number}\n{issue}\n{channel}".encode()
    return urlsafe_b64encode(hashlib.sha256(seed).digest()).decode()[:25]


@dataclass(slots=True)
class Posted:
    """A page that is on Discord. *shown* is None when what it says could not be found out."""

    #: None when it was delivered and then deleted by somebody.
    message: str | None
    issue: int
    shown: str | None
    #: Local monotonic time before which it is not edited again.
    editable: float = 0.0
    #: Written by a forerunner of this run, and not yet by this run.
    adopted: bool = False
    button: Button | None = None


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A page whose create may have been carried out; *since* is minus infinity after a crash."""

    page: Page
    since: float


class Pages:
    """Sends the pages of one turn's reply to one channel."""

    def __init__(
        self,
        wire: Wire,
        state: State,
        pace: Pace,
        holding: Holding,
        channel: str,
        reply_to: str,
        *,
        ping: bool,
    ) -> None:
        """Page 0 is a reply to message *reply_to*, which it notifies with *ping*."""
        self._pace = pace
        self._wire = wire
        self._state = state
        self._holding = holding
        self._channel = channel
        self._reply_to: str | None = reply_to
        self._after = reply_to
        self._ping = ping
        self._unsettled: dict[int, Unsettled] = {}

    # --- what a forerunner left ------------------------------------------------------------------

    def adopt(self) -> dict[int, Posted]:
        """Answer the pages that were on Discord when this run began, by their numbers."""
        adopted: dict[int, Posted] = {}
        for page in self._holding.started.pages:  # by (number, issue): the newest issue counts
            self._unsettled.pop(page.number, None)
            if page.message_id is None:
                self._unsettled[page.number] = Unsettled(page, -math.inf)
            else:
                adopted[page.number] = Posted(page.message_id, page.issue, None, adopted=True)
        return adopted

    async def read(self, adopted: Mapping[int, Posted]) -> None:
        """Find out what adopted pages say, as far as Discord tells."""
        if any(posted.adopted for posted in adopted.values()):
            with suppress(Rejected, Unreachable):
                recent = await self._wire.recent(self._channel, self._after)
                says = {message.id: message.text for message in recent}
                for posted in adopted.values():
                    posted.shown = says.get(posted.message or "")

    # --- create ----------------------------------------------------------------------------------

    async def create(
        self, number: int, content: Outgoing, taken: Mapping[int, Posted], issue: int = 0
    ) -> Posted:
        """Send the page unless it is there already, and journal its id."""
        begun = time.monotonic()
        unsettled = self._unsettled.get(number)
        issue = unsettled.page.issue if unsettled else issue
        # Before anything is journaled: nothing but the request may follow the store's word that
        # the lease is still ours.
        posted = await self._settled(unsettled, taken)
        while posted is None:
            posted = await self._try(number, issue, content)
        if (message := posted.message) is not None:
            await insist(lambda: self._state.posted(self._holding.lease, number, issue, message))
        self._unsettled.pop(number, None)
        self._holding.progress()
        posted.editable = self._editable(begun)
        return posted

    async def _settled(
        self, unsettled: Unsettled | None, taken: Mapping[int, Posted]
    ) -> Posted | None:
        """Answer a page that an earlier try has sent; None: it has to be sent, maybe again."""
        if unsettled is None or time.monotonic() - unsettled.since <= NONCE_WINDOW:
            return None
        if (there := await self._find(unsettled.page, taken)) is None:
            return None
        return Posted(
            there.id, unsettled.page.issue, there.text, adopted=unsettled.since == -math.inf
        )

    async def _try(self, number: int, issue: int, content: Outgoing) -> Posted | None:
        """Journal the intent and send the page; None when it has to be tried in a plainer form."""
        intent = content.text.encode("utf-8", "replace")
        page = await insist(lambda: self._state.page(self._holding.lease, number, issue, intent))
        if page.message_id is not None:
            return Posted(page.message_id, page.issue, None)
        reply_to = self._reply_to if number == 0 else None
        try:
            sent = await self._wire.create(
                self._channel, content, nonce=self._nonce(page), reply_to=reply_to, ping=self._ping
            )
        except (Unreachable, asyncio.CancelledError):
            self._unsettled.setdefault(number, Unsettled(page, time.monotonic()))
            raise
        except Rejected as error:
            if error.code == UNKNOWN_MESSAGE:  # this very create was delivered before, and deleted
                return Posted(None, issue, content.text)
            if error.code != CANNOT_READ_HISTORY or reply_to is None:
                raise
            self._reply_to = None  # replying needs the right to read history: send it plainly
            return None
        return _as_sent(sent, issue, content)

    async def settle(self, taken: Mapping[int, Posted]) -> dict[int, Posted]:
        """Answer the pages that are on Discord although their creates were never answered."""
        found: dict[int, Posted] = {}
        for number, unsettled in sorted(self._unsettled.items()):
            there = await self._find(unsettled.page, {**taken, **found})
            if there is not None:
                found[number] = Posted(there.id, unsettled.page.issue, there.text)
        for number in found:
            del self._unsettled[number]
        return found

    async def _find(self, page: Page, taken: Mapping[int, Posted]) -> OwnMessage | None:
        """Look in the channel for a page that may be there, and for no other turn's of the kind."""
        try:
            recent = await self._wire.recent(self._channel, self._after)
        except Rejected:  # no right to read history: the nonce has to do
            return None
        ours, intent = self._nonce(page), page.intent.decode()
        if told := [message for message in recent if message.nonce == ours]:
            return told[0]
        known = {posted.message for posted in taken.values()}
        free = [one for one in recent if one.nonce is None and one.id not in known]
        if page.number == 0:
            return next((one for one in free if one.reply_to == self._after), None)
        # A later page replies to nothing and is newer than the one before it.
        before = taken.get(page.number - 1)
        newest = int(before.message or 0) if before else 0
        plain = [one for one in free if one.reply_to is None and int(one.id) > newest]
        return next((one for one in plain if one.text == intent), None)

    def _editable(self, begun: float) -> float:
        """When a page may be edited after a request that began at *begun*, local monotonic."""
        now = time.monotonic()
        return now + self._pace.pause(now - begun)

    def _nonce(self, page: Page) -> str:
        return nonce(self._holding.lease.turn, page.number, page.issue, self._channel)

    # --- change ----------------------------------------------------------------------------------

    async def edit(self, posted: Posted, content: Outgoing) -> bool:
        """
        Bring a page to its wanted text; False when it must go on in a new message.

        One that was found deleted before is left alone. A file cannot be edited: that of a
        forerunner, which may have written something else, is deleted here.
        """
        begun = time.monotonic()
        if posted.message is not None:
            if content.file is not None and posted.adopted:
                await self._wire.delete(self._channel, posted.message)
                return False
            try:
                await self._wire.edit(self._channel, posted.message, content)
            except Rejected as error:
                if error.code not in SEND_ANEW or posted.issue >= MAX_ISSUES:
                    raise
                return False
            posted.editable = self._editable(begun)
            self._holding.progress()
        posted.shown, posted.button, posted.adopted = content.text, content.button, False
        return True

    async def delete(self, posted: Posted) -> None:
        """Remove a page."""
        if posted.message is not None:
            await self._wire.delete(self._channel, posted.message)

    async def mark(self, last: Posted | None, mark: str, emoji: str | None) -> None:
        """Put *mark* behind the last page, or *emoji* on it (or on the question) without text."""
        if last is not None and last.message is not None and last.shown is not None:
            if last.shown.endswith(mark):
                return  # put there by a forerunner that ended before it could tell the store
            await self._wire.edit(self._channel, last.message, Outgoing(last.shown + mark))
        elif emoji is not None:
            message = last.message if last else None
            await self._wire.react(self._channel, message or self._after, emoji)


def _as_sent(sent: OwnMessage, issue: int, content: Outgoing) -> Posted:
    """
    Tell what a create has put on Discord.

    A repeat is answered with what the first try made, in the words of then, which a later edit has
    to bring up to date. Discord strips white space at both ends; that is no difference.
    """
    if sent.text.strip() == content.text.strip():
        return Posted(sent.id, issue, content.text, button=content.button)
    return Posted(sent.id, issue, sent.text)
