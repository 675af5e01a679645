"""
What was yielded so far as the messages that show it, in the order in which it was yielded.

Discord shows a message's text, then its files, its embeds, its buttons. What comes in that order
shares a message; anything else begins the next one. Pure: nothing here waits or sends.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from bot import texts
from bot.errors import PieceInvalid
from bot.replies import BUTTONS, EMBED_TEXT, Embed, File
from bot.speaking import NOTHING, STATUS_SIGN, Button, Outgoing, Pieces
from bot.stream import Stream, units
from bot.stream.glyphs import blank, encodable

#: Units of a status line: what a phone shows in a few lines.
STATUS = 200

#: Name of the file that holds the rest of a long reply.
REST = "reply.md"

#: Files, and embeds, of one message.
MOST = 10

#: Messages of one reply that carry anything but text.
CARRIERS = 20

MIB = 1 << 20


class Composition:
    """The text of a reply, and the pieces between its pages."""

    def __init__(self, *, most: int, reserve: int, file_limit: int) -> None:
        """
        Put *most* units on each page, of which *reserve* are kept free for a mark.

        A file has *file_limit* bytes at most.
        """
        self._most = most
        self._stream = Stream(most, reserve)
        self._file_limit = file_limit
        #: What each page carries, by its number in the stream.
        self._pieces: dict[int, Pieces] = {}
        self._status = ""

    @property
    def text(self) -> str:
        """All the text that was written."""
        return self._stream.text

    @property
    def blank(self) -> bool:
        """Whether there is nothing to be seen; a status does not count."""
        return not self._pieces and self._stream.blank()

    # --- what was yielded ------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Add text: below pieces it begins a new page, once there is something to be seen."""
        if not blank(text):
            self._status = ""
            if self._stream.number in self._pieces:
                seen = len(text) - len(text.lstrip())
                self._stream.write(text[:seen])
                self._stream.end_page()
                text = text[seen:]
        self._stream.write(text)

    def set_status(self, text: str) -> None:
        """Show *text*, in one line, below what there is until something follows."""
        self._status = encodable(" ".join(text.split()))

    def add(self, piece: File | Embed | tuple[Button, ...]) -> None:
        """Add a piece below what there is; raise `PieceInvalid` when that cannot be."""
        if isinstance(piece, File) and len(piece.data) > self._file_limit:
            size, limit = len(piece.data) / MIB, self._file_limit / MIB
            raise PieceInvalid(f"{piece.name} has {size:.1f} MiB; {limit:.1f} MiB fit here")
        carried = self._pieces.get(self._stream.number, NOTHING)
        if (joined := self._joined(carried, piece)) is None:
            self._stream.end_page()
            joined = self._joined(NOTHING, piece)
        self._pieces[self._stream.number] = joined or NOTHING
        self._status = ""
        if len(self._pieces) > CARRIERS:
            raise PieceInvalid(
                f"more than {CARRIERS} messages with files, embeds or buttons; "
                "files, then embeds, then buttons share a message"
            )

    def _joined(self, there: Pieces, piece: File | Embed | tuple[Button, ...]) -> Pieces | None:
        """Add *piece* to those of a page; None when it has to go to the next."""
        match piece:
            case File():
                files = (*(there.files or ()), piece)
                fits = not (there.embeds or there.buttons) and len(files) <= MOST
                small = sum(len(file.data) for file in files) <= self._file_limit
                return replace(there, files=files) if fits and small else None
            case Embed():
                embeds = (*(there.embeds or ()), piece)
                fits = not there.buttons and len(embeds) <= MOST
                small = sum(embed.size for embed in embeds) <= EMBED_TEXT
                return replace(there, embeds=embeds) if fits and small else None
            case _:
                buttons = (*there.buttons, *piece)
                return replace(there, buttons=buttons) if len(buttons) <= BUTTONS else None

    # --- what is shown ---------------------------------------------------------------------------

    def _numbered(self) -> Iterator[tuple[str, Outgoing]]:
        """Each page that shows anything, behind the slice of the text that it stands for."""
        pages = [(page.body, page.shown) for page in self._stream.pages]
        if len(pages) == self._stream.number:  # nothing is written on the open page yet
            pages.append(("", ""))
        for number, (body, shown) in enumerate(pages):
            pieces = self._pieces.get(number, NOTHING)
            if shown or pieces:
                yield body, Outgoing(shown, pieces)

    def growing(self, most: int, button: Button | None) -> list[Outgoing]:
        """The first *most* messages while more is to come: status and *button* below the last."""
        pages = [page for _, page in islice(self._numbered(), most)]
        if not pages and self._status:
            pages.append(Outgoing(""))
        if pages:
            room = self._most - units(pages[-1].text) - len(f"\n{STATUS_SIGN}")
            pages[-1] = replace(pages[-1], button=button, status=shortened(self._status, room))
        return pages

    def finished(self, most: int) -> list[Outgoing]:
        """All of it: *most* messages, then the rest of the text as a file, and its pieces."""
        pages = list(self._numbered())
        rest = "".join(body for body, _ in pages[most:])
        shown = [page for _, page in pages[:most]]
        if not blank(rest):
            file = File(REST, encodable(rest).encode())
            shown.append(Outgoing(texts.here().file_page, Pieces(files=(file,))))
        return shown + [Outgoing("", page.pieces) for _, page in pages[most:] if page.pieces]


def shortened(line: str, room: int) -> str:
    """Cut a status to what fits *room* units, if any are left, and to `STATUS` in any case."""
    room = min(room, STATUS)
    if room < 1:  # marks may be shorter than the sign of a status
        return ""
    if units(line) <= room:
        return line
    line = line[:room]
    while units(line) >= room:
        line = line[:-1]
    return line + "…"
