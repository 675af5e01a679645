"""
Chunks of text to pages: what a responder writes, cut into messages that Discord takes.

Pure: nothing here waits, sends or knows Discord's library. Where a page ends depends on the text
alone, never on the chunks that it came in, so that a replay makes the same pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.stream.cuts import cut
from bot.stream.fences import LONGEST_CLOSING, LONGEST_OPENING
from bot.stream.glyphs import MOST_EXTENDERS, blank, units
from bot.stream.page import DEEPEST_INDENT, OpenPage

__all__ = ["MESSAGE_UNITS", "PageText", "Stream", "units"]

#: UTF-16 units of text in one Discord message.
MESSAGE_UNITS = 2000

#: Units that a page needs at least: a fence opened and closed, an indentation, two characters.
LEAST_ROOM = LONGEST_OPENING + LONGEST_CLOSING + DEEPEST_INDENT + 2 * (1 + MOST_EXTENDERS)


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of one message."""

    #: The slice of the text that this page stands for; all bodies joined are the text.
    body: str
    #: What Discord gets: the body without blanks at its ends, a cut code fence closed and opened
    #: again. Never more units than the limit less the reserve; empty only if the body is blank.
    shown: str


class Stream:
    """
    A text that grows, and its pages.

    A page is closed when the text no longer fits it, and never changes or is looked at again; the
    last one is open. Nothing is held back: all that was written is on some page at once.
    """

    def __init__(self, limit: int = MESSAGE_UNITS, reserve: int = 40) -> None:
        """
        Take a page's *limit* and the *reserve* kept free on each for the caller, in UTF-16 units.

        The reserve is room for a mark below the text, such as that of a stop. Raise ValueError if
        they leave less than `LEAST_ROOM`.
        """
        if limit - reserve < LEAST_ROOM:
            raise ValueError(f"a page needs {LEAST_ROOM} units, not {limit} less {reserve}")
        self._room = limit - reserve
        self._chunks: list[str] = []
        self._closed: list[PageText] = []
        self._page = OpenPage()

    def write(self, chunk: str) -> None:
        """Append *chunk* to the text."""
        self._chunks.append(chunk)
        source = self._page.body + chunk
        at = len(self._page.body)
        while at < len(source):
            at += self._page.take(source, at, self._room)
            if self._page.size > self._room:
                at -= self._close()

    def end_page(self) -> None:
        """Let what is written next begin a page of its own, even if this one is empty."""
        self._closed.append(PageText(self._page.body, self._page.shown))
        self._page = self._page.following()

    @property
    def number(self) -> int:
        """The number of the open page, from 0."""
        return len(self._closed)

    @property
    def pages(self) -> Sequence[PageText]:
        """The pages so far; the last one is open, and is shown as if the text ended here."""
        if not self._page.body:
            return tuple(self._closed)
        return (*self._closed, PageText(self._page.body, self._page.shown))

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(self._chunks)

    def blank(self) -> bool:
        """Tell whether there is nothing to be seen: no text, or only blanks of whatever kind."""
        return blank(self._page.body) and not any(page.shown for page in self._closed)

    def _close(self) -> int:
        """Close the page, which has just overflowed; return how many characters go to the next."""
        written = len(self._page.body)
        page = self._page.until(cut(self._page.body, self._page.fence_at_start))
        self._closed.append(PageText(page.body, page.shown))
        self._page = page.following()
        return written - len(page.body)
