"""
Commands that ask for a turn: acknowledged at once, then through the same door as any message.

The acknowledgement and the admission run side by side. The first must not wait for a slow store;
the second must not wait for Discord, since an interaction that is not admitted when its process
dies is lost: nobody else can find it again.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
import structlog

from bot import texts
from bot.access import Asking
from bot.admission import TO_US
from bot.door import Door
from bot.errors import ResponderInvalid, TurnNotStarted
from bot.followed import Followed
from bot.hearing import asking, category_of, parent_of
from bot.inbound import Deferred, Kind, Message, Trigger
from bot.plain import person_of
from bot.refusals import ALREADY_ACKNOWLEDGED
from bot.speaking import Webhook

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Asks:
    """Makes turns of commands."""

    door: Door
    webhook: Webhook
    allows: Callable[[Asking], bool]
    followed: Followed
    #: Check that a responder of that name is loaded and answer the name; empty: that of messages.
    responder: Callable[[str | None], str]
    is_member: Callable[[int], bool]

    async def start(
        self,
        interaction: discord.Interaction[Any],
        text: str,
        responder: str | None,
        payload: object,
    ) -> None:
        """See `Interlock.start_turn`."""
        message = self._message(interaction, text, responder, payload)
        user, guild = interaction.user, message.guild
        # By the ids that come with the event: the roles of a guild that we are no member of are not
        # known otherwise, and a blocked one counts there too.
        roles = user._roles if isinstance(user, discord.Member) else ()  # noqa: SLF001
        if not self.allows(asking(str(user.id), roles, guild, interaction.channel)):
            await refuse(interaction, texts.here().not_allowed)
            return
        deferring = asyncio.create_task(defer(interaction), name=f"defer {interaction.id}")
        self.webhook.wait_for(interaction.token, deferring)
        try:
            admission = await self.door.enter(message, TO_US)
            direct = guild is None and message.deferred is not None and message.deferred.speaks
            if direct and admission is not None and message.channel not in self.followed:
                await self.followed.follow(message.conversation, message.id)
        finally:
            await asyncio.wait({deferring})

    def _message(
        self,
        interaction: discord.Interaction[Any],
        text: str,
        responder: str | None,
        payload: object,
    ) -> Message:
        """Reduce a command to an inbound, or raise `TurnNotStarted`."""
        if interaction.response.is_done():
            raise TurnNotStarted(
                "start_turn: the interaction has its response already; call start_turn instead of "
                "answering or deferring"
            )
        if interaction.channel is None:
            raise TurnNotStarted("start_turn: Discord names no channel that could be answered in")
        try:
            name = self.responder(responder)
            json.dumps(payload)
        except ResponderInvalid as error:
            raise TurnNotStarted(f"start_turn: {error}") from None
        except (TypeError, ValueError) as error:
            raise TurnNotStarted(f"start_turn: the payload is no JSON ({error})") from None
        command = interaction.command
        return Message(
            id=str(interaction.id),
            channel=str(interaction.channel.id),
            guild=str(interaction.guild_id) if interaction.guild_id else None,
            author=person_of(interaction.user),
            text=text,
            addressed=True,
            responder=name,
            parent=parent_of(interaction.channel),
            category=category_of(interaction.channel),
            trigger=Trigger(
                Kind.COMMAND,
                command.qualified_name if command else "",
                options(interaction) if payload is None else payload,
            ),
            deferred=Deferred(interaction.token, speaks(interaction, self.is_member)),
        )


def speaks(interaction: discord.Interaction[Any], is_member: Callable[[int], bool]) -> bool:
    """Whether we may speak in the channel of a command, too, without its token."""
    if interaction.guild_id is None:  # a direct message of ours, not one between others
        return not interaction.context.private_channel
    if not is_member(interaction.guild_id):
        return False
    rights, channel = interaction.app_permissions, interaction.channel
    if isinstance(channel, discord.Thread):
        return rights.send_messages_in_threads and (not channel.locked or rights.manage_threads)
    return rights.view_channel and rights.send_messages


async def defer(interaction: discord.Interaction[Any]) -> None:
    """Show "thinking…"; a command that could not be deferred is answered in the channel."""
    try:
        await interaction.response.defer(thinking=True)
    except discord.HTTPException as error:
        if error.code == ALREADY_ACKNOWLEDGED:
            log.info("deferred by another process", inbound=str(interaction.id))
        else:
            log.warning("not deferred", inbound=str(interaction.id), reason=str(error))
    except (aiohttp.ClientError, OSError) as error:
        log.warning("not deferred", inbound=str(interaction.id), reason=type(error).__name__)


async def refuse(interaction: discord.Interaction[Any], text: str) -> None:
    """Say *text* to the person alone."""
    try:
        await interaction.response.send_message(text, ephemeral=True)
    except discord.HTTPException as error:
        log.info("command answered elsewhere", code=error.code)


def options(interaction: discord.Interaction[Any]) -> dict[str, Any]:
    """The options that a command was used with, as Discord sent them, or what it was used on."""
    sent: Mapping[str, Any] = dict(interaction.data or {})
    if "target_id" in sent:
        return {"target": str(sent["target_id"])}
    return dict(_values(sent.get("options", ())))


def _values(sent: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, Any]]:
    for option in sent:
        if "value" in option:
            yield option["name"], option["value"]
        yield from _values(option.get("options", ()))  # a subcommand holds those it was given
