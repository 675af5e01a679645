"""
A reply to Discord: which page is sent or edited next, one request at a time.

One writer task a reply; the newest text wins, and no text is sent twice. How one page is sent is
in `bot.pages`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

import structlog

from bot.endings import Ending
from bot.locks import Holding
from bot.pages import Pages
from bot.posted import Posted
from bot.speaking import LEASE_GONE, NOTHING, NotSpeaking, Outgoing, Rejected, Unreachable

#: Seconds that the first page waits for more text, unless the reply is complete: what is created is
#: what a phone's notification shows, and one word says nothing.
GATHER = 0.2

#: Seconds between tries after an unknown outcome: doubled from the first to the last.
BACKOFF_FIRST, BACKOFF_LAST = 0.5, 8.0

log = structlog.get_logger(__name__)


class Reply:
    """The messages of one turn's reply."""

    def __init__(self, pages: Pages, holding: Holding) -> None:
        """Begin with what a forerunner of this run has put on Discord."""
        self._pages = pages
        self._holding = holding
        self._wanted: tuple[Outgoing, ...] = ()
        self._posted: dict[int, Posted] = pages.adopt()
        #: What was sent anew since, and is not known to be deleted.
        self._outdated: list[Posted] = pages.outdated()
        self._changed = asyncio.Event()
        self._hurried = asyncio.Event()
        self._nudged = asyncio.Event()
        self._broken: Exception | None = None
        self._writer = self._start_writer(self._write)

    def _start_writer(self, write: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Begin a task of its own, for a request in flight outlives whoever waits for it."""

        async def writer() -> None:
            try:
                await write()
            except Exception as error:  # noqa: BLE001 (unheard of, it would pass for a reply that landed)
                self._break(error)

        return asyncio.create_task(writer(), name=f"writer {self._holding.lease.turn}")

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
        return not any(posted.adopted for posted in self._posted.values())

    @property
    def swept(self) -> bool:
        """Whether nothing is left to delete of what was sent anew."""
        return not self._outdated

    @property
    def shown(self) -> str:
        """The text of this run that is on Discord now."""
        pages = sorted(self._posted.items())
        return "".join(posted.shown for _, posted in pages if posted.shown is not None)

    async def land(self, pages: Sequence[Outgoing], *, anew: bool = False) -> None:
        """
        Show *pages* and return when all of it is on Discord and nothing else of this reply is.

        What people saw grow is sent *anew*, for they are notified of new messages only. By then the
        reply is complete where it grew, and whatever refuses or ends us finds it so.
        Raise what made it impossible: `Rejected`, one of `LEASE_GONE`, or an error of our own.
        """
        await self._bring(pages)
        if anew:
            self._writer = self._start_writer(self._send_anew)
            await self._bring(pages)  # an earlier try may have been delivered, in other words
        await self.sweep()

    async def _bring(self, pages: Sequence[Outgoing]) -> None:
        """Bring what is on Discord to *pages*."""
        self._hurry()
        self.show(pages)
        while True:
            if self._writer.done() and self._broken is None:
                self._writer = self._start_writer(self._write)
            await asyncio.wait({self._writer})
            if self._broken is not None:
                raise self._broken
            await self._insist(self.settle)
            if self._stale() is None:
                break
        for number in sorted(self._posted, reverse=True):
            if number >= len(pages):
                await self._insist(partial(self._delete, number))

    async def freeze(self, seconds: float) -> None:
        """Send nothing more. A request in flight gets *seconds* to end, then is abandoned."""
        self._wanted = ()
        self._hurry()
        self._changed.set()
        try:
            await asyncio.wait({self._writer}, timeout=seconds)
        finally:
            self._writer.cancel()
        await asyncio.wait({self._writer})

    def _hurry(self) -> None:
        """Wait for nothing but Discord any more: no cadence, and no pause after a failed try."""
        self._hurried.set()
        self._nudged.set()

    async def settle(self) -> None:
        """Find the pages whose creates were never answered; remove what is but a status line."""
        found = await self._pages.settle(self._posted)
        self._outdated += [self._posted[number] for number in found if number in self._posted]
        self._posted |= found
        bare = [number for number, posted in self._posted.items() if posted.bare]
        for number in bare:
            if number >= len(self._wanted):  # else it is about to become what is wanted
                await self._delete(number)

    async def sweep(self) -> bool:
        """Delete what was sent anew, by best effort; whether nothing of it is left."""
        for posted in list(self._outdated):
            try:
                await self._pages.delete(posted)
            except Unreachable as error:
                log.warning("an outdated page is not deleted yet", reason=str(error))
                continue
            except Rejected as error:
                log.warning("an outdated page stays", reason=str(error))
            self._outdated.remove(posted)
        return self.swept

    async def mark(self, mark: str, emoji: str | None) -> None:
        """
        Put *mark* behind what is on Discord, or *emoji* on it where its text is not known here.

        For a reply that was frozen: nothing that was not there yet is added.
        """
        pages = [posted for _, posted in sorted(self._posted.items())]
        await self._pages.mark(pages[-1] if pages else None, mark, emoji)
        for posted in pages[:-1]:  # a button moves to each new page, and may not have left one yet
            if posted.button is not None and posted.shown is not None:
                await self._pages.edit(posted, Outgoing(posted.shown, posted.pieces or NOTHING))

    # --- anew ------------------------------------------------------------------------------------

    async def _send_anew(self) -> None:
        """
        Send all that has to be sent anew, in order.

        Refused, or about to end in another way, the reply stays where it grew.
        """
        grew, outdated, wanted = dict(self._posted), list(self._outdated), self._wanted
        try:
            for number in self._from_the_first_grown(len(wanted)):
                if self._wanted != wanted:
                    return self._take_back(grew, outdated)
                await self._insist(partial(self._reissue, number, wanted[number]))
        except Rejected as error:
            log.warning("no new message, the reply stays where it grew", reason=str(error))
            self._take_back(grew, outdated)

    def _take_back(self, grew: dict[int, Posted], outdated: list[Posted]) -> None:
        """Go on with the messages that *grew*, as if none was sent anew: half would be torn."""
        sent = [one for number, one in self._posted.items() if one is not grew[number]]
        self._posted, self._outdated = grew, outdated + sent

    def _from_the_first_grown(self, count: int) -> list[int]:
        """
        Tell which of so many pages to send anew: all from the first that grew, to keep their order.

        A forerunner may have come to send some anew, which are then below those that follow.
        """
        there = [number for number in range(count) if self._posted[number].message is not None]
        newest = 0
        for place, number in enumerate(there):
            posted = self._posted[number]
            if posted.grown or int(posted.message or 0) < newest:
                rest = there[place:]
                return rest if all(self._pages.renewable(self._posted[one]) for one in rest) else []
            newest = int(posted.message or 0)
        return []

    async def _reissue(self, number: int, content: Outgoing) -> None:
        """Send a page as its next issue, beside the one that is there."""
        before = self._posted[number]
        issue = before.issue + 1
        self._posted[number] = await self._pages.create(number, content, self._posted, issue)
        self._outdated.append(before)

    # --- the writer ------------------------------------------------------------------------------

    async def _write(self) -> None:
        await self._pages.read(self._posted)
        while not (self._hurried.is_set() and self._stale() is None):
            self._changed.clear()
            if (number := self._stale()) is not None:
                await self._pause(number)
                await self._insist(partial(self._put, number))
            elif not self._hurried.is_set():
                await self._changed.wait()

    def _break(self, error: Exception) -> None:
        """Note that nothing more can be said, and end the turn for it."""
        self._broken = error
        self._holding.cancel(Ending.LOST if isinstance(error, LEASE_GONE) else Ending.FAILED)

    def _stale(self) -> int | None:
        """The first page that is not on Discord as wanted: one to create before one to edit."""
        for number in range(len(self._wanted)):
            if number not in self._posted:
                return number
        for number, content in enumerate(self._wanted):
            if self._differs(number, content) and not self._ahead(number, content):
                return number
        return None

    def _differs(self, number: int, content: Outgoing) -> bool:
        posted = self._posted[number]
        # What a forerunner left below its text is not known: its pages are written once at least.
        unknown = posted.pieces is None and posted.message is not None and self._hurried.is_set()
        return unknown or posted.differs(content)

    def _ahead(self, number: int, content: Outgoing) -> bool:
        """Whether a forerunner got further with its last page than this run is by now."""
        posted = self._posted[number]
        streaming = not self._hurried.is_set() and number == len(self._wanted) - 1
        longer = posted.shown is None or len(posted.shown) > len(content.text)
        return posted.adopted and streaming and longer

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
        content, issue = self._wanted[number], 0
        if (posted := self._posted.get(number)) is not None:
            if await self._pages.edit(posted, content):
                return
            # Deleted, archived, or edited too often: send it anew, as its next issue.
            del self._posted[number]
            issue = posted.issue + 1
        self._posted[number] = await self._pages.create(number, content, self._posted, issue)

    async def _delete(self, number: int) -> None:
        await self._pages.delete(self._posted[number])
        del self._posted[number]

    async def _insist(self, request: Callable[[], Awaitable[None]]) -> None:
        """Repeat a request whose outcome is unknown, for as long as the lease lives."""
        pause = BACKOFF_FIRST
        while True:
            try:
                return await request()
            except Unreachable as error:
                log.warning("discord unreachable, repeating", reason=str(error))
            if not self._holding.may_speak:
                raise NotSpeaking
            pause = await self._back_off(pause)

    async def _back_off(self, pause: float) -> float:
        """Wait that many seconds, or until the reply is to end; answer the pause after the next."""
        self._nudged.clear()
        try:
            await asyncio.wait_for(self._nudged.wait(), pause)
        except TimeoutError:
            return min(pause * 2, BACKOFF_LAST)
        return BACKOFF_FIRST
