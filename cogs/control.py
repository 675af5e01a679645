"""The commands that steer a conversation: /kill, /stop, /queue and /new."""

from collections.abc import Iterable

import discord
import structlog
from discord import app_commands
from discord.ext import commands

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
            return Privately("Nothing is running here.")
        if not self._moderates(interaction) and by not in authors(turn.inbounds):
            whose_it_is = f"That reply is {names(turn.inbounds)}'s"
            return Privately(f"{whose_it_is}; only they or a moderator may stop it.")
        answered = await self._bot.requests.stop(
            conversation, turn.id, by, f"stop-{interaction.id}"
        )
        log.info("stop", by=by, turn=turn.id)
        if isinstance(answered, NotRunning):
            return Privately("It has just ended by itself.")
        return f"Stopped {whose(turn, interaction)} reply{withdrawn(answered.withdrawn)}."

    async def _queue(self, interaction: discord.Interaction) -> str:
        return told_queue(await self._bot.requests.look(here(interaction)))

    async def _new(self, interaction: discord.Interaction) -> str:
        await self._bot.requests.begin_anew(here(interaction))
        return "A new conversation begins here; what was said before is forgotten."

    def _moderates(self, interaction: discord.Interaction) -> bool:
        return moderates(interaction, self._bot.settings.access.operators)


def told_killed(killed: Killed, interaction: discord.Interaction, *, own_only: bool) -> str:
    """Say who was affected."""
    parts = []
    dropped = "Dropped"
    if killed.turn is not None:
        parts.append(f"Stopped {whose(killed.turn, interaction)} reply")
        dropped = "dropped"
    if killed.dropped:
        count = len(killed.dropped)
        messages = "message" if count == 1 else "messages"
        parts.append(f"{dropped} {count} waiting {messages} ({names(killed.dropped)})")
    if not parts:
        nothing = "of yours is running or waiting" if own_only else "is running or waiting"
        return Privately(f"Nothing {nothing} here.")
    return "; ".join(parts) + "."


def told_queue(view: View) -> str:
    """Show the turn, its age and who waits."""
    if view.turn is None and not view.waiting:
        return "Nothing is running or waiting here."
    lines = []
    if view.turn is not None:
        state = "Answering" if view.turn.live else "About to go on with"
        lines.append(f"{state} {names(view.turn.inbounds)}, for {view.turn.age:.0f} s.")
    for place, inbound in enumerate(view.waiting, start=1):
        lines.append(f"{place}. {names([inbound])}")
    return "\n".join(lines)


def whose(turn: Running, interaction: discord.Interaction) -> str:
    """Whose reply it is, from the point of view of whoever used the command."""
    mine = authors(turn.inbounds) == {str(interaction.user.id)}
    return "your" if mine else f"{names(turn.inbounds)}'s"


def withdrawn(inbounds: tuple[Inbound, ...]) -> str:
    """How many waiting messages went with it."""
    return f" and withdrew {len(inbounds)} waiting" if inbounds else ""


def authors(inbounds: Iterable[Inbound]) -> set[str]:
    """The ids of who wrote them."""
    return {inbound.author for inbound in inbounds}


def names(inbounds: Iterable[Inbound]) -> str:
    """The names of who wrote them, each once, markup disarmed."""
    known = {message.author.id: message.author.name for message in readable(inbounds)}
    shown = [discord.utils.escape_markdown(name) for name in list(known.values())[:NAMED]]
    more = len(known) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Control(bot))
