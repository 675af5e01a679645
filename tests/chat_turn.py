"""Turns for the chat cog, without a store or Discord behind them."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import cast

from bot import Message, Person, Quoted, Remark, Said, Turn
from bot.config import Settings
from bot.inbound import Attached
from bot.journal import Journal
from bot.kept import Kept
from bot.responders import Say
from cogs.chat_models import Models

ADA = Person("1001", "Ada")
BEN = Person("1002", "Ben")

GUILD = "3001"


def models(**keys: object) -> Models:
    """Name the model by the keys of `[cogs.chat]`."""
    settings = Settings.model_validate({"cogs": {"chat": keys}})
    return Models(lambda: settings)


class Idle:
    """A pulse that nobody feels."""

    def progress(self) -> None:
        """Note nothing."""

    def chain(self) -> AbstractContextManager[None]:
        """Hold nothing back."""
        return nullcontext()


def message(
    text: str,
    author: Person = ADA,
    *,
    guild: str | None = GUILD,
    reply_to: Quoted | None = None,
) -> Message:
    """Make a message that addresses the bot."""
    return Message(
        "5001",
        "4001",
        guild,
        author,
        text,
        addressed=True,
        responder="Chat",
        reply_to=reply_to,
    )


@dataclass(frozen=True, slots=True)
class Room:
    """A channel in which something was said."""

    said: Sequence[Said] = ()
    remarks: Sequence[Remark] = ()

    async def history(self, limit: int) -> list[Said]:
        """Read the transcript."""
        return list(self.said)[-limit:]

    async def context(self, limit: int | None) -> list[Remark]:
        """Read the channel."""
        return list(self.remarks)[-limit:] if limit else list(self.remarks)

    async def fetch(self, file: Attached, message: str, limit: int) -> bytes:
        """Have no files."""
        raise NotImplementedError


def turn(*messages: Message, said: Sequence[Said] = (), remarks: Sequence[Remark] = ()) -> Turn:
    """
    Make a turn of *messages*.

    *said* was said before in its conversation, *remarks* are what its channel shows before it.
    """
    return Turn(
        messages,
        attempt=1,
        journal=cast("Journal", None),  # the cog records no steps
        pulse=Idle(),
        around=Room(said, remarks),
        kept=cast("Kept", None),  # keeps nothing
        say=cast("Say", None),  # and says all in its reply
    )
