"""What passes between the bot and a fake Discord: messages, requests and their faults."""

import asyncio
import itertools
import time
from dataclasses import dataclass

from bot.replies import Embed, File
from bot.snowflake import DISCORD_EPOCH
from bot.speaking import Button, Outgoing, OwnMessage

#: The channel that is meant when none is named.
CHANNEL = "201"

_sequence = itertools.count()


def snowflake(age: float = 0.0) -> str:
    """Make an id as Discord would have *age* seconds ago; those of one age ascend."""
    milliseconds = int((time.time() - age) * 1000) - DISCORD_EPOCH
    return str((milliseconds << 22) + next(_sequence))


@dataclass(slots=True)
class Sent:
    """A message of ours on the fake Discord."""

    id: str
    channel: str
    text: str
    nonce: str
    reply_to: str | None
    ping: bool
    #: Each text it has shown, in order.
    texts: list[str]
    deleted: bool = False
    #: Whom a mention in it has notified.
    notifies: str | None = None
    #: The interaction that it is the response to.
    answers: str | None = None
    #: The button of ours under it now.
    button: Button | None = None
    #: What else it carries now.
    files: tuple[File, ...] = ()
    embeds: tuple[Embed, ...] = ()
    buttons: tuple[Button, ...] = ()

    @property
    def file(self) -> bytes | None:
        """What is in its first file."""
        return self.files[0].data if self.files else None

    def carry(self, content: Outgoing) -> None:
        """Carry what *content* names, and go on carrying the rest."""
        pieces = content.pieces
        self.button, self.buttons = content.button, pieces.buttons
        self.files = self.files if pieces.files is None else pieces.files
        self.embeds = self.embeds if pieces.embeds is None else pieces.embeds

    def own(self, nonce: str | None) -> OwnMessage:
        """Read it back."""
        sizes = tuple(len(file.data) for file in self.files)
        answers = self.answers if self.text or self.files or self.embeds else None
        return OwnMessage(
            self.id, self.text, nonce, self.reply_to, answers, sizes, len(self.embeds)
        )


@dataclass(frozen=True, slots=True)
class Request:
    """A request that began. *at* is local monotonic."""

    method: str
    channel: str
    message: str | None
    text: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Fault:
    """
    What happens to one request: it waits for *hold*, then *error* is raised, if any.

    With *lost* it is carried out all the same, also when its sender is cancelled meanwhile.
    """

    error: Exception | None = None
    lost: bool = False
    hold: asyncio.Event | None = None
