"""/status, /deadletters and /reload, for those who run the bot."""

from collections.abc import Coroutine, Sequence
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.ext import commands

from bot.client import Interlock
from bot.insist import insist
from bot.interactions import Privately, answer
from bot.notices import readable
from bot.overview import Busy, letters, look
from bot.rereading import Reread
from state.listings import DeadLetter

#: Lines of one answer: each below 130 characters, so that all fit one message.
SHOWN = 12

#: Characters of an error, and of names.
ERROR, NAMES = 60, 30

#: Characters of a problem with the settings, and of a key: so that `SHOWN` of them fit a message.
PROBLEM, KEY = 150, 60

log = structlog.get_logger(__name__)


class Operator(commands.Cog):
    """What operators may see of all conversations; nobody else does."""

    def __init__(self, bot: Interlock) -> None:
        """Look into *bot*'s store."""
        self._bot = bot

    @app_commands.command()
    @app_commands.default_permissions(administrator=True)
    async def status(self, interaction: discord.Interaction) -> None:
        """Show who is being answered anywhere, what waits and what was given up."""
        await answer(interaction, self._if_operator(interaction, self._status()))

    @app_commands.command()
    @app_commands.default_permissions(administrator=True)
    @app_commands.describe(requeue="Id of one to try again", discard="Id of one to drop")
    async def deadletters(
        self,
        interaction: discord.Interaction,
        requeue: str | None = None,
        discard: str | None = None,
    ) -> None:
        """List what was given up, try one again, or drop it."""
        if requeue is not None:
            work = self._requeue(requeue, f"requeue-{interaction.id}")
        elif discard is not None:
            work = self._discard(discard)
        else:
            work = self._list()
        await answer(interaction, self._if_operator(interaction, work))

    @app_commands.command()
    @app_commands.default_permissions(administrator=True)
    async def reload(self, interaction: discord.Interaction) -> None:
        """Read the settings again; what runs ends by those of before."""
        await answer(interaction, self._if_operator(interaction, self._reload()))

    async def _if_operator(
        self, interaction: discord.Interaction, work: Coroutine[Any, Any, str]
    ) -> str:
        """Check at run time: Discord's default permissions are an admin's to override."""
        listed = str(interaction.user.id) in self._bot.settings.access.operators
        if not listed and not await self._bot.is_owner(interaction.user):
            work.close()
            return Privately("This is for those who run the bot: `access.operators` lists them.")
        return await work

    async def _status(self) -> str:
        overview = await look(self._bot.state)
        lines = [_line(one) for one in overview.busy[:SHOWN]]
        lines += _more(len(overview.busy))
        lines.append(
            f"{overview.held} being answered, {overview.left} left to be taken up,"
            f" {overview.waiting} waiting, {overview.dead_letters} dead letters."
        )
        return "\n".join(lines)

    async def _reload(self) -> str:
        return _told_reread(await self._bot.rereading.read())

    async def _list(self) -> str:
        found = await letters(self._bot.state)
        if not found:
            return "There are no dead letters."
        lines = [_told(letter) for letter in found[:SHOWN]]
        return "\n".join([*lines, *_more(len(found))])

    async def _requeue(self, id_: str, op: str) -> str:
        if (letter := await self._find(id_)) is None:
            return f"There is no dead letter `{_plain(id_)}`."
        if not letter.inbounds:
            return "It could not be read, so there is nothing to try again; you can discard it."
        await insist(lambda: self._bot.state.requeue(letter.conversation, letter.id, op=op))
        log.info("dead letter requeued", letter=letter.id)
        return f"It is tried again in <#{letter.conversation.id}>."

    async def _discard(self, id_: str) -> str:
        if (letter := await self._find(id_)) is None:
            return f"There is no dead letter `{_plain(id_)}`."
        await insist(lambda: self._bot.state.discard(letter.conversation, letter.id))
        log.info("dead letter discarded", letter=letter.id)
        return "Dropped."

    async def _find(self, id_: str) -> DeadLetter | None:
        every = await letters(self._bot.state)
        return next((letter for letter in every if letter.id == id_.strip("` ")), None)


def _line(one: Busy) -> str:
    where = f"<#{one.conversation.id}>"
    if not one.answering:
        return f"{where}: {one.waiting} waiting" if one.waiting else f"{where}: a timer"
    names = _plain(", ".join(person.name for person in one.answering))[:NAMES]
    state = f"answering {names} for" if one.held else f"about to go on with {names}, after"
    return f"{where}: {state} {one.age:.0f} s, {one.waiting} waiting"


def _told(letter: DeadLetter) -> str:
    people = dict.fromkeys(message.author.name for message in readable(letter.inbounds))
    names = _plain(", ".join(people))[:NAMES]
    return f"`{letter.id}` {names}: {_plain(letter.error)[:ERROR]}"


def _told_reread(reread: Reread) -> str:
    if reread.problems:
        lines = [_plain(problem)[:PROBLEM] for problem in reread.problems[:SHOWN]]
        refused = "Something is wrong with the settings; those of before stay in force."
        return "\n".join([refused, *lines, *_more(len(reread.problems))])
    parts = [f"In force now: {_keys(reread.changed)}." if reread.changed else "Nothing changed."]
    if reread.waiting:
        parts.append(f"Waiting for a restart: {_keys(reread.waiting)}.")
    return " ".join(parts)


def _keys(keys: Sequence[str]) -> str:
    return ", ".join([f"`{_plain(key)[:KEY]}`" for key in keys[:SHOWN]] + _more(len(keys)))


def _more(count: int) -> list[str]:
    return [f"and {count - SHOWN} more"] if count > SHOWN else []


def _plain(text: str) -> str:
    """Leave nothing that Discord would draw: one line, no marks."""
    return " ".join(text.translate(str.maketrans("", "", "`*_~|<>@")).split())


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Operator(bot))
