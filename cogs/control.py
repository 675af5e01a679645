"""The commands that steer a conversation: /kill, /stop, /queue and /new."""

from collections.abc import Iterable

import discord
import structlog
from discord import app_commands
from discord.ext import commands

from bot import texts
from bot.client import Interlock
from bot.interactions import Privately, answer, here, moderates
from bot.notices import readable
from state.outcomes import Killed, NotRunning, Running, View
from state.values import Inbound

#: People named in one answer; the others are counted.
NAMED = 10

log = structlog.get_logger(__name__)


class Control(commands.Cog):
    """Steers conversations, by whoever has the right to."""

    def __init__(self, bot: Interlock) -> None:
        """Ask through *bot*'s requests."""
        self._bot = bot

    @app_commands.command()
    async def kill(self, interaction: discord.Interaction) -> None:
        """End the reply here and now, and drop what waits."""
        await answer(interaction, self._kill(interaction), public=True)

    @app_commands.command()
    async def stop(self, interaction: discord.Interaction) -> None:
        """End the reply here; what is written so far stays."""
        await answer(interaction, self._stop(interaction), public=True)

    @app_commands.command()
    async def queue(self, interaction: discord.Interaction) -> None:
        """Show who is being answered here, and who waits."""
        await answer(interaction, self._queue(interaction))

    @app_commands.command()
    async def new(self, interaction: discord.Interaction) -> None:
        """Begin a new conversation here: what was said so far is forgotten."""
        await answer(interaction, self._new(interaction), public=True)

    async def _kill(self, interaction: discord.Interaction) -> str:
        by = str(interaction.user.id)
        author = None if self._moderates(interaction) else by
        killed = await self._bot.requests.kill(
            here(interaction), by, f"kill-{interaction.id}", author
        )
        log.info("kill", by=by, hit=killed.turn and killed.turn.id, dropped=len(killed.dropped))
        return told_killed(killed, interaction, own_only=author is not None)

    async def _stop(self, interaction: discord.Interaction) -> str:
        conversation, by = here(interaction), str(interaction.user.id)
        turn = (await self._bot.requests.look(conversation)).turn
        if turn is None:
            return Privately(texts.here().nothing_runs)
        if not self._moderates(interaction) and by not in authors(turn.inbounds):
            return Privately(texts.here().reply_of_theirs.format(names=names(turn.inbounds)))
        answered = await self._bot.requests.stop(
            conversation, turn.id, by, f"stop-{interaction.id}"
        )
        log.info("stop", by=by, turn=turn.id)
        if isinstance(answered, NotRunning):
            return Privately(texts.here().just_ended)
        parts = [stopped(turn, interaction)]
        if answered.withdrawn:
            parts.append(texts.here().withdrew.format(count=len(answered.withdrawn)))
        return sentence(parts)

    async def _queue(self, interaction: discord.Interaction) -> str:
        return told_queue(await self._bot.requests.look(here(interaction)))

    async def _new(self, interaction: discord.Interaction) -> str:
        await self._bot.requests.begin_anew(here(interaction))
        return texts.here().begun_anew

    def _moderates(self, interaction: discord.Interaction) -> bool:
        return moderates(interaction, self._bot.settings.access.operators)


def told_killed(killed: Killed, interaction: discord.Interaction, *, own_only: bool) -> str:
    """Say who was affected."""
    said, parts = texts.here(), list[str]()
    if killed.turn is not None:
        parts.append(stopped(killed.turn, interaction))
    if killed.dropped:
        count = len(killed.dropped)
        dropped = said.dropped_one if count == 1 else said.dropped_many
        parts.append(dropped.format(count=count, names=names(killed.dropped)))
    if not parts:
        return Privately(said.nothing_of_yours if own_only else said.nothing_here)
    return sentence(parts)


def told_queue(view: View) -> str:
    """Show the turn, its age and who waits."""
    said = texts.here()
    if view.turn is None and not view.waiting:
        return said.nothing_here
    lines = []
    if view.turn is not None:
        line = said.answering if view.turn.live else said.going_on
        lines.append(line.format(names=names(view.turn.inbounds), seconds=f"{view.turn.age:.0f}"))
    if view.waiting:
        lines.append(said.waiting)
    for place, inbound in enumerate(view.waiting, start=1):
        lines.append(f"{place}. {names([inbound])}")
    return "\n".join(lines)


def stopped(turn: Running, interaction: discord.Interaction) -> str:
    """Say whose reply was stopped, from the point of view of whoever used the command."""
    if authors(turn.inbounds) == {str(interaction.user.id)}:
        return texts.here().stopped_yours
    return texts.here().stopped_theirs.format(names=names(turn.inbounds))


def sentence(parts: list[str]) -> str:
    """Put what happened together."""
    whole = "; ".join(parts)
    return f"{whole[:1].upper()}{whole[1:]}."


def authors(inbounds: Iterable[Inbound]) -> set[str]:
    """The ids of who wrote them."""
    return {inbound.author for inbound in inbounds}


def names(inbounds: Iterable[Inbound]) -> str:
    """The names of who wrote them, each once, markup disarmed."""
    known = {message.author.id: message.author.name for message in readable(inbounds)}
    shown = [discord.utils.escape_markdown(name) for name in list(known.values())[:NAMED]]
    more = len(known) - len(shown)
    return ", ".join(shown) + (texts.here().and_more.format(count=more) if more else "")


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Control(bot))
