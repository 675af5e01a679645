"""What a channel shows of a conversation, and what went on behind it."""

from dataclasses import dataclass, field

from bot.endings import Ending
from bot.replies import Embed, File
from bot.testing.traffic import Sent


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message of the bot that is on show at the end."""

    text: str
    #: Labels of the buttons under it.
    buttons: tuple[str, ...]
    #: What is in its first file.
    file: bytes | None
    #: Id of the message that it replies to; None for a page that follows another.
    reply_to: str | None
    #: Every text it has had, in order.
    versions: tuple[str, ...]
    files: tuple[File, ...] = ()
    embeds: tuple[Embed, ...] = ()


@dataclass(slots=True)
class Run:
    """One run of a turn: its first, a retry, or the replay after a crash."""

    #: Id of the turn, equal in all of its runs.
    turn: str
    #: Steps that were on record when it began, and are not run again.
    replayed: tuple[str, ...]
    #: Steps whose effect this run has carried out, in order.
    steps: list[str] = field(default_factory=list)
    #: None while it runs, and for ever when the process was killed under it.
    ending: Ending | None = None
    #: Why it failed.
    error: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is to be seen, and what happened."""

    messages: tuple[ShownMessage, ...]
    #: Oldest first.
    runs: tuple[Run, ...]
    #: How often the typing indicator was asked for.
    typing: int
    #: Emoji of ours on what people wrote, such as the hourglass of one that waits.
    reactions: tuple[str, ...]

    @property
    def text(self) -> str:
        """All that the bot says, each message on a line of its own."""
        return "\n".join(message.text for message in self.messages)

    @property
    def ending(self) -> Ending | None:
        """How the last run ended."""
        return self.runs[-1].ending if self.runs else None

    @property
    def steps(self) -> tuple[str, ...]:
        """Steps whose effect was carried out, over all runs: one that ran twice stands twice."""
        return tuple(step for run in self.runs for step in run.steps)


def as_shown(sent: Sent) -> ShownMessage:
    """Show a message as the channel does."""
    ours = (sent.button,) if sent.button is not None else ()
    buttons = tuple(button.label for button in (*sent.buttons, *ours))
    return ShownMessage(
        sent.text,
        buttons,
        sent.file,
        sent.reply_to,
        tuple(sent.texts),
        sent.files,
        sent.embeds,
    )
