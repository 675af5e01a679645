"""
/remind and /reminders: a message at a later time, kept in the store.

A reminder is a timer of its conversation. When it is due it becomes a turn like any other, so that
it waits for the reply that is being written, and survives a restart.
"""

import datetime as dt
import hashlib
from collections.abc import AsyncGenerator

import discord
import structlog
from discord import app_commands
from discord.ext import commands

from bot import RetryLater, Turn, texts
from bot.client import Interlock
from bot.hearing import category_of, parent_of
from bot.inbound import Kind, Message, Trigger
from bot.insist import insist
from bot.interactions import Privately, answer, here
from bot.notices import readable
from bot.plain import person_of
from cogs.reminder_times import seconds_until
from state.listings import Scheduled
from state.values import Timer

#: Reminders that one person may have in one guild, or in direct messages.
MOST = 20

#: Characters of a reminder, markup included.
LONGEST = 500

#: Characters of a reminder in the list. Relation: `MOST` lines of it, each
#: character escaped, fit the 2,000 of a message.
LISTED = 20

#: Seconds: the latest that somebody can be reminded.
LATEST = 366 * 86_400.0

#: Characters of a message's nonce.
NONCE = 25

log = structlog.get_logger(__name__)


class Reminders(commands.Cog):
    """Sets reminders, lists them, and says them when they are due."""

    def __init__(self, bot: Interlock) -> None:
        """Keep them in *bot*'s store."""
        self._bot = bot

    # --- commands --------------------------------------------------------------------------------

    @app_commands.command()
    @app_commands.describe(when="10m, in 2 hours, 17:45 or 2027-01-31 09:00 (UTC)", what="Of what")
    async def remind(
        self,
        interaction: discord.Interaction,
        when: app_commands.Range[str, 1, 40],
        what: app_commands.Range[str, 1, LONGEST],
    ) -> None:
        """Remind you here at a later time."""
        await answer(interaction, self._remind(interaction, when, what))

    @app_commands.command()
    @app_commands.describe(cancel="The code of one that is not wanted any more")
    async def reminders(
        self, interaction: discord.Interaction, cancel: app_commands.Range[str, 1, 8] | None = None
    ) -> None:
        """Show your reminders, or cancel one of them by its code."""
        work = self._list(interaction) if cancel is None else self._cancel(interaction, cancel)
        await answer(interaction, work)

    async def _remind(self, interaction: discord.Interaction, when: str, what: str) -> str:
        delay = seconds_until(when, dt.datetime.now(dt.UTC))
        if delay is None:
            return Privately(texts.here().time_unknown)
        if not 0 < delay <= LATEST:
            said = texts.here()
            return Privately(said.time_passed if delay <= 0 else said.time_too_far)
        if interaction.guild_id is not None and not _may_send(interaction):
            return Privately(texts.here().may_not_write)
        if len(await self._mine(interaction)) >= MOST:
            return Privately(texts.here().too_many_reminders.format(count=MOST))
        id_ = f"remind-{interaction.id}"
        timer = Timer(id_, _message(interaction, what).inbound(), delay)
        await insist(lambda: self._bot.state.schedule(here(interaction), timer, op=id_))
        log.info("reminder set", by=str(interaction.user.id), seconds=round(delay))
        return texts.here().reminder_set.format(when=_stamp(delay), code=code(id_))

    async def _list(self, interaction: discord.Interaction) -> str:
        mine = await self._mine(interaction)
        if not mine:
            return texts.here().no_reminders
        return "\n".join(map(_line, mine))

    async def _cancel(self, interaction: discord.Interaction, wanted: str) -> str:
        mine = await self._mine(interaction)
        for one in mine:
            if code(one.timer.id) == wanted.strip("` ").lower():
                await insist(lambda: self._bot.state.unschedule(one.conversation, one.timer.id))  # noqa: B023 (awaited here)
                return texts.here().reminder_cancelled.format(text=_text(one))
        return Privately(texts.here().no_such_reminder.format(code=wanted))

    async def _mine(self, interaction: discord.Interaction) -> list[Scheduled]:
        """Whoever asks sees their own, of this guild or their direct messages, soonest first."""
        owner, author = here(interaction).owner, str(interaction.user.id)
        found: list[Scheduled] = []
        cursor: str | None = None
        while True:
            page = await self._bot.state.schedules(owner, cursor)
            found += [one for one in page.timers if is_reminder(one, author)]
            if (cursor := page.cursor) is None:
                return sorted(found, key=lambda one: one.due_in)

    # --- when one is due -------------------------------------------------------------------------

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """
        Say the reminder, by a message that notifies its person: replies of ours notify nobody else.

        It is sent under a nonce, so that a repeat after a crash is the same message.
        """
        if turn.trigger.kind is not Kind.TIMER:
            yield texts.here().only_reminders
            return

        async def say(key: str) -> bool:
            nonce = hashlib.blake2b(key.encode(), digest_size=NONCE // 2).hexdigest()
            return await self._say(turn, nonce)

        turn.decline()
        await turn.step("say", say)

    async def _say(self, turn: Turn, nonce: str) -> bool:
        """Send it; whether it could be said."""
        person = discord.Object(int(turn.author.id))
        channel = self._bot.get_partial_messageable(int(turn.conversation))
        try:
            await channel.send(
                f"⏰ <@{person.id}> {turn.text}",
                nonce=nonce,
                allowed_mentions=discord.AllowedMentions(
                    everyone=False, roles=False, replied_user=False, users=[person]
                ),
            )
        except (discord.Forbidden, discord.NotFound) as error:
            log.warning("reminder not said", code=error.code)
            return False
        except discord.DiscordServerError as error:
            raise RetryLater(f"Discord answered {error.status}") from None
        return True


def is_reminder(one: Scheduled, author: str) -> bool:
    """Whether a timer is a reminder of that person."""
    return one.timer.inbound.author == author and one.timer.id.startswith("remind-")


def code(timer: str) -> str:
    """Derive the code by which a person names a reminder."""
    return hashlib.blake2b(timer.encode(), digest_size=2).hexdigest()


def _message(interaction: discord.Interaction, what: str) -> Message:
    """Write down what will ask for the turn."""
    return Message(
        id=str(interaction.id),
        channel=str(interaction.channel_id),
        guild=str(interaction.guild_id) if interaction.guild_id else None,
        author=person_of(interaction.user),
        text=what,
        addressed=True,
        responder=Reminders.__name__,
        parent=parent_of(interaction.channel),
        category=category_of(interaction.channel),
        trigger=Trigger(Kind.TIMER, "reminder", {"text": what}),
    )


def _may_send(interaction: discord.Interaction) -> bool:
    rights = interaction.app_permissions
    in_thread = isinstance(interaction.channel, discord.Thread)
    return rights.send_messages_in_threads if in_thread else rights.send_messages


def _line(one: Scheduled) -> str:
    where = f" in <#{one.conversation.id}>" if one.conversation.owner.startswith("guild/") else ""
    return f"`{code(one.timer.id)}` {_stamp(one.due_in)}{where}: {_text(one)}"


def _text(one: Scheduled) -> str:
    """The first words, so that a full list fits one message."""
    text = next((message.text for message in readable([one.timer.inbound])), "(unreadable)")
    short = text if len(text) <= LISTED else f"{text[:LISTED].rstrip()}…"
    return discord.utils.escape_markdown(short).replace("\n", " ")


def _stamp(seconds: float) -> str:
    """Name a time so that everybody sees it in their own."""
    when = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds)
    return discord.utils.format_dt(when, "R")


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Reminders(bot))
