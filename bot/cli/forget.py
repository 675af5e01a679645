"""`interlock forget`: remove everything of one person or one guild from the store."""

import re

import typer

from bot.cli.store import opened
from bot.config import Settings
from bot.errors import StartupFailed
from state.keys import Author, Owner


def targets(user: str | None, guild: str | None) -> tuple[Owner | Author, ...]:
    """Read the two flags, of which exactly one is given; a person's direct messages are theirs."""
    given = user or guild
    if (user is None) == (guild is None) or given is None:
        raise StartupFailed("forget: name whom, by --user ID or by --guild ID")
    if not re.fullmatch(r"\d{1,20}", given):
        raise StartupFailed(f'forget: "{given}" is no id; copy it by Discord\'s developer mode')
    return (Owner(f"guild/{given}"),) if guild else (Author(given), Owner(f"user/{given}"))


def confirm(whom: tuple[Owner | Author, ...], settings: Settings) -> None:
    """Ask whether to go on; raise `typer.Abort` otherwise."""
    person = isinstance(whom[0], Author)
    what = (
        f"All that user {whom[0].id} wrote, in every conversation, and their direct messages"
        if person
        else f"All conversations of guild {whom[0].id.partition('/')[2]}"
    )
    typer.echo(f"{what} are removed from {settings.state.url}. This cannot be undone.")
    typer.confirm("Go on?", abort=True)


async def forget(whom: tuple[Owner | Author, ...], settings: Settings) -> int:
    """Remove it, batch after batch; answer how many conversations and traces went."""
    removed = 0
    async with opened(settings.state) as state:
        for target in whom:
            done = False
            while not done:
                batch = await state.forget(target)
                removed, done = removed + batch.removed, batch.done
    return removed
