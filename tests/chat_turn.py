"""Turns for the chat cog, without a store or Discord behind them."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import cast

from bot import Message, Person, Quoted, Said, Turn
from bot.journal import Journal

ADA = Person("1001", "Ada")
BEN = Person("1002", "Ben")

GUILD = "3001"


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


def turn(*messages: Message, said: Sequence[Said] = ()) -> Turn:
    """Make a turn of *messages*, in a conversation in which *said* was said before."""

    async def history(limit: int) -> list[Said]:
        return list(said)[-limit:]

    return Turn(
        messages,
        attempt=1,
        journal=cast("Journal", None),  # the cog records no steps
        pulse=Idle(),
        history=history,
    )
