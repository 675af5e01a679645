"""From discord.py's objects to plain data: people, files, and names for mentions."""

from collections.abc import Iterable

import discord

from bot.inbound import MOST_ATTACHED, Attached, Person


def person_of(user: discord.User | discord.Member) -> Person:
    """Reduce a user to who they are here."""
    return Person(str(user.id), user.display_name)


def attached(message: discord.Message) -> tuple[Attached, ...]:
    """Describe the files of a message."""
    return tuple(
        Attached(
            str(file.id), file.filename, file.content_type, file.size, file.url, file.description
        )
        for file in message.attachments[:MOST_ATTACHED]
    )


def named(text: str, mentioned: Iterable[discord.User | discord.Member]) -> str:
    """Put people's names for their mentions: to a reader, a name says more than an id."""
    for user in mentioned:
        for form in (f"<@{user.id}>", f"<@!{user.id}>"):
            text = text.replace(form, f"@{user.display_name}")
    return text
