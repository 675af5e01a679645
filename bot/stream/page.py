"""A page while it is being written: always measured, always ready to be shown."""

from bot.stream.fences import LONGEST_CLOSING, Fence, fence_after
from bot.stream.glyphs import (
    MOST_EXTENDERS,
    after_blanks,
    after_extenders,
    encodable,
    first_visible,
    last_visible,
    units,
)

#: Characters of indentation that a page of code keeps at its start. More of it is a run of blanks
#: rather than a place in a program, and would leave no room for what follows.
DEEPEST_INDENT = 32


class OpenPage:
    """
    The text of one page, its size as Discord would count it, and the fence that is open.

    Blanks at either end take no place in what is shown, for Discord trims them. Adding costs time
    in proportion to what is added and to the last line, not to the page.
    """

    def __init__(self, fence: Fence | None = None, *, mid_line: bool = False) -> None:
        self.body = ""
        self.fence_at_start = fence
        #: The fence that is open if the text ends here.
        self.fence = fence
        #: Units of `shown`.
        self.size = 0
        self._mid_line = mid_line
        self._opening = fence.opening(mid_line=mid_line) if fence else ""
        self._closing = ""
        self._line = 0  # where the last line begins
        self._looked = 0  # how far the body was searched for line breaks
        self._fence_before = fence  # the fence that is open where that line begins
        self._first: int | None = None  # where shown text begins; None while all is blank
        self._seen = 0  # where the last visible character ends
        self._spent = 0  # units from first to seen

    def take(self, source: str, at: int, room: int) -> int:
        """
        Add characters of *source* from index *at* on, and return how many.

        It stops at the first character with which `size` exceeds *room*, if not before: where a
        page overflows depends on the text alone, never on the pieces that it came in.
        """
        blanks = len(self.body) - self._seen
        if blanks > MOST_EXTENDERS and (end := after_blanks(source, at)) > at:
            # After so many blanks another one changes nothing, however many there are. Where lines
            # begin is looked up when something to be seen follows.
            self.body += source[at:end]
            return end - at
        # No character is larger than two units, so that this many cannot overflow unnoticed.
        most = len(self._opening) + self._spent + 2 * blanks + LONGEST_CLOSING
        end = min(len(source), at + max(1, (room - most) // 2))
        self._add(source[at:end])
        return end - at

    @property
    def shown(self) -> str:
        """The text for Discord: trimmed at both ends, its open fence closed."""
        if self._first is None:
            return ""
        end = after_extenders(self.body, self._seen)
        return encodable(f"{self._opening}{self.body[self._first : end]}{self._closing}")

    def until(self, end: int) -> "OpenPage":
        """Return this page as it was when its body had *end* characters."""
        page = OpenPage(self.fence_at_start, mid_line=self._mid_line)
        page._add(self.body[:end])
        return page

    def following(self) -> "OpenPage":
        """Begin the page after this one."""
        return OpenPage(self.fence, mid_line=not self.body.endswith("\n"))

    def _add(self, piece: str) -> None:
        start = len(self.body)
        self.body += piece
        self._follow_lines()
        self._see(start)
        if self._first is None:
            return
        extenders = self.body[self._seen : after_extenders(self.body, self._seen)]
        self.size = len(self._opening) + self._spent + units(extenders) + len(self._closing)

    def _follow_lines(self) -> None:
        """Follow the fence through the lines that were added."""
        while (end := self.body.find("\n", self._looked)) >= 0:
            self._fence_before = fence_after(self._fence_before, self.body[self._line : end])
            self._line = self._looked = end + 1
        self._looked = len(self.body)
        line = self.body[self._line :]
        self.fence = fence_after(self._fence_before, line)
        self._closing = self.fence.closing(line) if self.fence else ""

    def _see(self, start: int) -> None:
        """Count the visible characters at or after *start*, and the blanks before them."""
        last = last_visible(self.body, start)
        if last is None:
            return
        if self._first is None:
            self._first = self._beginning(first_visible(self.body, start) or 0)
            self._seen = self._first
        self._spent += units(self.body[self._seen : last + 1])
        self._seen = last + 1

    def _beginning(self, visible: int) -> int:
        """Return where shown text begins: in code the indentation counts."""
        line = self.body.rfind("\n", 0, visible) + 1
        return line if self._opening and visible - line <= DEEPEST_INDENT else visible
