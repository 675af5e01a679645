"""A page that is on Discord: what it shows, as far as that is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.speaking import Button, Outgoing, OwnMessage, Pieces
from state.values import Page


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
    #: What it was like when it was sent, if a forerunner did; None when that is not known.
    sent: str | None = None
    #: Whether it may say anything else by now than what was sent, of which people were notified.
    grown: bool = False
    button: Button | None = None
    status: str = ""
    #: None when what it carries is not known.
    pieces: Pieces | None = None

    @property
    def bare(self) -> bool:
        """Whether it shows a status line and nothing else."""
        return bool(self.status) and not (self.shown or self.pieces)

    def differs(self, content: Outgoing) -> bool:
        """Whether it is known to be, or to have to be made, other than *content*."""
        if self.pieces not in (None, content.pieces) or (self.pieces is None and content.pieces):
            return True
        return (self.shown, self.button, self.status) != (
            content.text,
            content.button,
            content.status,
        )

    def read(self, there: OwnMessage) -> "Posted":
        """Note what could be read back of it; what buttons are there is not told."""
        self.shown, self.status = there.text, "" if there.files or there.embeds else there.status
        if self.sent is not None:
            self.grown = self.sent.strip() != there.likeness.strip()
        return self

    def become(self, content: Outgoing) -> None:
        """Note that it shows *content* now."""
        if self.shown is not None:
            self.grown |= self.shown.strip() != content.text.strip()
            self.grown |= self.pieces not in (None, content.pieces)
        self.shown, self.pieces = content.text, content.pieces
        self.button, self.status = content.button, content.status
        self.adopted = False


def adopt(page: Page) -> Posted:
    """Go on with a page that a forerunner has sent; what became of it since is to be read."""
    return Posted(
        page.message_id, page.issue, None, adopted=True, sent=page.intent.decode(), grown=True
    )


def outdated(pages: Sequence[Page]) -> list[Posted]:
    """Tell which messages of *pages*, by number and issue, were sent anew: all but the newest."""
    sent = [page for page in pages if page.message_id is not None]
    newest = {page.number: page.issue for page in sent}
    return [
        Posted(page.message_id, page.issue, None)
        for page in sent
        if page.issue != newest[page.number]
    ]


def as_sent(
    sent: OwnMessage | None, issue: int, content: Outgoing, form: Outgoing, *, known: bool
) -> Posted:
    """
    Tell what a create of *content* in some *form* has put on Discord; None: nothing any more.

    A repeat is answered with what the first try made, in the words of then, which a later edit has
    to bring up to date; what that carries is not *known*. Discord strips white space at both ends;
    that is no difference.
    """
    posted = Posted(sent.id if sent else None, issue, None)
    if sent is None or sent.content.strip() == form.content.strip():
        posted.become(content)
    else:
        posted.read(sent)
    if not known:
        posted.pieces = None
    return posted


def changed(before: Pieces | None, after: Pieces) -> Pieces:
    """
    Name only the files and embeds that an edit has to change; a file is not sent a second time.

    What was there *before* may not be known: then all of it is replaced.
    """
    files, embeds = after.files or (), after.embeds or ()
    if before is None:
        return replace(after, files=files, embeds=embeds)
    return replace(
        after,
        files=None if files == (before.files or ()) else files,
        embeds=None if embeds == (before.embeds or ()) else embeds,
    )
