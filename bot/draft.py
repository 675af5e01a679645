"""The text of a reply, and how it is left on Discord by each way a turn can end."""

import asyncio
from contextlib import suppress
from typing import assert_never

from bot import texts
from bot.composition import Composition
from bot.delivery import Reply
from bot.endings import END_WITHIN, Ending
from bot.offers import Offers
from bot.replies import Buttons, Chunk, Embed, File, Status
from bot.speaking import Button, Outgoing, Unreachable
from bot.stream import MESSAGE_UNITS, units

#: Seconds before each further try to mark a reply that could not be marked in time, and to delete
#: what of it was sent anew.
MARK_AGAIN = (1.0, 5.0, 25.0)

#: Endings that leave a mark behind what is there of the reply.
MARKED = (Ending.STOPPED, Ending.KILLED, Ending.SUPERSEDED, Ending.FAILED)


class Draft:
    """What a responder has written so far, and the messages that show it."""

    def __init__(
        self,
        reply: Reply,
        *,
        room: int = 0,
        file_limit: int,
        max_pages: int,
        delete_partial: bool,
        anew: bool,
        stop: Button | None,
        retry: Button | None,
        emoji: str | None,
        offers: Offers,
        opening: str = "",
    ) -> None:
        """
        Show at most *max_pages* messages, the rest as a file.

        A file has at most *file_limit* bytes. *room* is how many UTF-16 units the wire may add to a
        message. *stop* is under the last page while it grows, *retry* under an apology; *emoji*
        marks what has no text to put a mark behind. *offers* keeps what buttons mean.
        *opening* is put before the first text. What people saw grow is sent *anew* once it is done.
        """
        self._reply = reply
        self._max_pages = max_pages
        self._delete_partial = delete_partial
        self._anew = anew
        self._stop = stop
        self._retry = retry
        self._emoji = emoji
        self._offers = offers
        self._opening = opening
        self._composition = Composition(
            most=MESSAGE_UNITS - room, reserve=mark_room(), file_limit=file_limit
        )

    @property
    def text(self) -> str:
        """All the text that was written."""
        return self._composition.text

    @property
    def blank(self) -> bool:
        """Whether there is nothing to be seen."""
        return self._composition.blank

    async def take(self, chunk: Chunk) -> None:
        """Add what was yielded and show it soon; raise `PieceInvalid` when it cannot be."""
        match chunk:
            case str():
                if chunk.strip() and self._opening:
                    chunk, self._opening = self._opening + chunk, ""
                self._composition.write(chunk)
            case Status(text):
                self._composition.set_status(text)
            case Embed() | File():
                self._composition.add(chunk)
            case Buttons():
                self._composition.add(await self._offers.make(chunk))
            case _:
                assert_never(chunk)
        if pages := self._composition.growing(self._max_pages, self._stop):
            self._reply.show(pages)

    async def land(self) -> None:
        """Put all of it on Discord; return when it is there."""
        await self._reply.land(self._pages(), anew=self._anew)

    def _pages(self) -> list[Outgoing]:
        """All of it, or nothing if there is nothing to be seen."""
        return [] if self.blank else self._composition.finished(self._max_pages)

    async def close(self, ending: Ending, *, retried: bool) -> None:
        """Leave the reply as *ending* wants it; *retried*: the turn goes on in a moment."""
        match ending:
            case Ending.FINISHED | Ending.LOST:
                pass  # all of it has landed; nothing more may be said
            case Ending.STOPPED:
                await self._flush(ending)
            case Ending.SUPERSEDED:
                await self._make_room()
            case Ending.KILLED:
                await self.mark(ending)
            case Ending.PARKED:
                await self._reply.freeze(END_WITHIN)
            case Ending.FAILED:
                await (self._reply.freeze(END_WITHIN) if retried else self._apologise())
            case _:
                assert_never(ending)

    async def _make_room(self) -> None:
        """Leave a partial reply as the settings want; begin none for the sake of its mark."""
        if self._delete_partial:
            await self._reply.land([])
        elif self._reply.begun:
            await self._flush(Ending.SUPERSEDED)
        else:
            await self.mark(Ending.SUPERSEDED)

    async def _flush(self, ending: Ending) -> None:
        """Show what was written, with its markdown closed and a mark behind it."""
        pages = self._pages()
        if not pages or not self._reply.overtaken:
            await self.mark(ending)
            return
        last, button = pages[-1], self._retry if ending is Ending.FAILED else None
        marked = Outgoing(last.text + texts.here().mark(ending), last.pieces, button)
        await self._reply.land([*pages[:-1], marked])

    async def mark(self, ending: Ending) -> None:
        """Mark what is on Discord, without adding to it."""
        await self._reply.freeze(END_WITHIN)
        await self._reply.settle()
        if ending is not Ending.SUPERSEDED or self._reply.begun:
            await self._reply.mark(texts.here().mark(ending), self._emoji)
        await self._reply.sweep()

    async def mark_late(self, ending: Ending) -> None:
        """Mark a reply that could not be marked in time, in a few tries by best effort."""
        for pause in MARK_AGAIN:
            with suppress(Unreachable):
                return await self.mark(ending)
            await asyncio.sleep(pause)
        return await self.mark(ending)

    async def sweep_late(self) -> None:
        """Delete what was sent anew and could not be deleted in time, in a few tries."""
        for pause in MARK_AGAIN:
            await asyncio.sleep(pause)
            if await self._reply.sweep():
                return

    async def _apologise(self) -> None:
        """Say once that the turn is given up."""
        if self._pages() and self._reply.overtaken:
            await self._flush(Ending.FAILED)
        else:
            await self._reply.land([Outgoing(texts.here().apology, button=self._retry)])


def mark_room() -> int:
    """UTF-16 units to keep free on every page, so that any mark fits behind a full one."""
    return max(units(texts.here().mark(ending)) for ending in MARKED)
