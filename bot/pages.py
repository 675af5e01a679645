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
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from bot import texts
from bot.insist import insist
from bot.locks import Holding
from bot.pace import Pace
from bot.posted import Posted, adopt, as_sent, changed, outdated
from bot.refusals import (
    CANNOT_READ_HISTORY,
    NOT_WITH_PIECES,
    SEND_ANEW,
    TOO_LARGE,
    UNKNOWN_MESSAGE,
)
from bot.speaking import (
    NOTHING,
    Kind,
    Outgoing,
    OwnMessage,
    Pieces,
    Rejected,
    Unreachable,
    Wire,
)
from bot.stream import units
from state.ports import State
from state.values import Page

#: Seconds of Discord's nonce window that we trust ("the past few minutes", without a figure).
#: Beyond it an unknown outcome is settled by reading the channel.
NONCE_WINDOW = 120.0

#: UTF-16 units up to which a text is given a note of what was left out. Relation: below Discord's
#: 2,000 by what a `Wire` may add to it.
NOTED = 1900

#: The number of the first page that is no part of the reply. Relation: far above any `max_pages`.
ASIDES = 1_000_000

#: Deliberate re-sends of one page; a channel where each is deleted at once is given up.
MAX_ISSUES = 3


def nonce(turn: str, number: int, issue: int, channel: str) -> str:
    """Derive the nonce of one page: 25 characters, Discord's longest, equal on every replay."""
    seed = f"{turn}\n{number}\n{issue}\n{channel}".encode()
    return urlsafe_b64encode(hashlib.sha256(seed).digest()).decode()[:25]


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
        after: str,
        *,
        replies: bool = True,
        threaded: bool = False,
        pings: Callable[[], bool],
        asides: bool = False,
        notifies: str | None = None,
    ) -> None:
        """
        Send nothing that is older than *after*, the id of what is answered.

        Page 0 *replies* to it if it is a message, and notifies its author if it *pings* by then.
        In a thread (*threaded*) it cannot. Else it may notify *notifies*, the id of whom it names.
        *asides* are messages beside the reply: pages from `ASIDES` on, which reply to nothing.
        """
        self._pace = pace
        self._wire = wire
        self._state = state
        self._holding = holding
        self._channel = channel
        every = holding.started.pages
        self._journaled = [page for page in every if (page.number >= ASIDES) == asides]
        self._known = {page.message_id for page in every}  # those beside the reply as well
        self._notifies = notifies
        self._reply_to = after if replies else None
        self._threaded = threaded
        self._after = after
        self._pings = pings
        self._unsettled: dict[int, Unsettled] = {}
        #: Pages that are there, and whose ids the store does not have yet.
        self._unjournaled: dict[int, Posted] = {}
        #: Kinds of pieces that were refused here.
        self._refused: set[Kind] = set()

    # --- what a forerunner left ------------------------------------------------------------------

    def adopt(self) -> dict[int, Posted]:
        """Answer the pages that were on Discord when this run began, by their numbers."""
        adopted: dict[int, Posted] = {}
        for page in self._journaled:  # by (number, issue): the newest issue counts
            self._unsettled.pop(page.number, None)
            if page.message_id is None:
                self._unsettled[page.number] = Unsettled(page, -math.inf)
            else:
                adopted[page.number] = adopt(page)
        return adopted

    def outdated(self) -> list[Posted]:
        """Answer the messages that may be there still of pages which a forerunner sent anew."""
        return outdated(self._journaled)

    async def read(self, adopted: Mapping[int, Posted]) -> None:
        """Find out what adopted pages say, as far as Discord tells."""
        if any(posted.adopted for posted in adopted.values()):
            with suppress(Rejected, Unreachable):
                recent = await self._wire.recent(self._channel, self._after)
                says = {message.id: message for message in recent}
                for posted in adopted.values():
                    if (there := says.get(posted.message or "")) is not None:
                        posted.read(there)

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
        self._unsettled.pop(number, None)
        if (message := posted.message) is not None:
            self._unjournaled[number] = posted  # we may be cancelled before the store has its id
            await insist(lambda: self._state.posted(self._holding.lease, number, issue, message))
            del self._unjournaled[number]
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
        posted = Posted(there.id, unsettled.page.issue, None, adopted=unsettled.since == -math.inf)
        return posted.read(there)

    async def _try(self, number: int, issue: int, content: Outgoing) -> Posted | None:
        """Journal the intent and send the page; None when it has to be tried in a plainer form."""
        form = self._form(content)
        intent = form.likeness.encode("utf-8", "replace")
        page = await insist(lambda: self._state.page(self._holding.lease, number, issue, intent))
        if page.message_id is not None:
            return Posted(page.message_id, page.issue, None)
        reply_to = self._reply_to if number == 0 else None
        told = replace(form, notifies=self._notifies if number == 0 else None)
        try:
            sent = await self._wire.create(
                self._channel, told, nonce=self._nonce(page), reply_to=reply_to, ping=self._pings()
            )
        except (Unreachable, asyncio.CancelledError):
            self._unsettled.setdefault(number, Unsettled(page, time.monotonic()))
            raise
        except Rejected as error:
            if error.code == UNKNOWN_MESSAGE:  # this very create was delivered before, and deleted
                sent = None
            elif error.code == CANNOT_READ_HISTORY and reply_to is not None:
                self._reply_to = None  # replying needs the right to read history: send it plainly
                return None
            elif self._step_down(error, form):
                return None
            else:
                raise
        return as_sent(sent, issue, content, form, known=number not in self._unsettled)

    async def settle(self, taken: Mapping[int, Posted]) -> dict[int, Posted]:
        """Answer the pages that are on Discord although their creates have not come to an end."""
        found, self._unjournaled = self._unjournaled, {}
        for number, unsettled in sorted(self._unsettled.items()):
            if (there := await self._find(unsettled.page, {**taken, **found})) is not None:
                found[number] = Posted(there.id, unsettled.page.issue, None).read(there)
        self._unsettled = {n: one for n, one in self._unsettled.items() if n not in found}
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
        known = self._known | {posted.message for posted in taken.values()}
        free = [one for one in recent if one.nonce is None and one.id not in known]
        if page.number == 0 and self._reply_to is not None:
            reply = next((one for one in free if one.reply_to == self._after), None)
            if reply is not None or (page.issue == 0 and not self._threaded):
                return reply
        # A later page, and any in a thread, replies to nothing and is newer than the one before it.
        before = taken.get(max(page.number - 1, 0))
        newest = int(before.message or 0) if before else 0
        plain = [one for one in free if one.reply_to is None and int(one.id) > newest]
        return next((one for one in plain if one.likeness == intent), None)

    # --- what may not be sent here ---------------------------------------------------------------

    def _form(self, content: Outgoing) -> Outgoing:
        """Leave out of *content* what was refused here, with a word of it where there is room."""
        pieces, notes = content.pieces, ""
        for kind in sorted(self._refused):
            if getattr(pieces, kind):
                pieces, notes = pieces.without(kind), f"{notes}\n{texts.here().left_out[kind]}"
        if not notes:
            return content
        told = f"{content.content}{notes}".lstrip("\n")
        text = told if units(told) <= NOTED else content.content
        return replace(content, text=text, status="", pieces=pieces)

    def _step_down(self, error: Rejected, form: Outgoing) -> bool:
        """Note what *error* forbids of a form that was refused; whether a plainer one is left."""
        if error.code not in NOT_WITH_PIECES:
            return False
        kinds: tuple[Kind, ...] = ("files",) if error.code == TOO_LARGE else ("embeds", "files")
        for kind in kinds:
            if getattr(form.pieces, kind):
                self._refused.add(kind)
                return True
        return False

    def _editable(self, begun: float) -> float:
        """When a page may be edited after a request that began at *begun*, local monotonic."""
        now = time.monotonic()
        return now + self._pace.pause(now - begun)

    def _nonce(self, page: Page) -> str:
        return nonce(self._holding.lease.turn, page.number, page.issue, self._channel)

    # --- change ----------------------------------------------------------------------------------

    async def edit(self, posted: Posted, content: Outgoing) -> bool:
        """
        Bring a page to its wanted content; False when it must go on in a new message.

        One that was found deleted before is left alone.
        """
        begun = time.monotonic()
        if posted.message is not None:
            try:
                await self._change(posted.message, posted, content)
            except Rejected as error:
                if error.code not in SEND_ANEW or posted.issue >= MAX_ISSUES:
                    raise
                return False
            posted.editable = self._editable(begun)
            self._holding.progress()
        posted.become(content)
        return True

    async def _change(self, message: str, posted: Posted, content: Outgoing) -> None:
        """Edit a message, in the plainest form that is let through if need be."""
        while True:
            form = self._form(content)
            pieces = changed(posted.pieces, form.pieces)
            try:
                return await self._wire.edit(self._channel, message, replace(form, pieces=pieces))
            except Rejected as error:
                if not self._step_down(error, form):
                    raise

    @staticmethod
    def renewable(posted: Posted) -> bool:
        """Whether a page may be sent anew and still go on in a new message if it has to."""
        return posted.issue + 1 < MAX_ISSUES

    async def delete(self, posted: Posted) -> None:
        """Remove a page."""
        if posted.message is not None:
            await self._wire.delete(self._channel, posted.message)

    async def mark(self, last: Posted | None, mark: str, emoji: str | None) -> None:
        """Put *mark* behind the last page, or *emoji* on it (or on the question) without text."""
        if last is not None and last.message is not None and last.shown is not None:
            if last.shown.endswith(mark):
                return  # put there by a forerunner that ended before it could tell the store
            # Only the responder's buttons have to be named; files and embeds stay as they are.
            kept = Pieces(buttons=last.pieces.buttons) if last.pieces else NOTHING
            await self._wire.edit(self._channel, last.message, Outgoing(last.shown + mark, kept))
        elif emoji is not None:
            message = last.message if last else None
            await self._wire.react(self._channel, message or self._after, emoji)
