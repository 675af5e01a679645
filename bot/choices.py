"""Presses of responders' buttons: each is a new inbound, through the same door as any message."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
import structlog

from bot import texts
from bot.access import Asking
from bot.admission import TO_US
from bot.buttons import Choice, read_choice
from bot.door import Door
from bot.hearing import asking, category_of, parent_of
from bot.inbound import Message, Quoted
from bot.interactions import here
from bot.offers import Offer, offered, refusal
from bot.plain import person_of
from state.errors import StateError
from state.ports import State

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Choices:
    """Makes turns of presses."""

    state: State
    door: Door
    allows: Callable[[Asking], bool]

    async def chosen(self, interaction: discord.Interaction[Any], choice: Choice) -> None:
        """
        Answer a press by a turn of the responder that made the button.

        It is acknowledged while we look: Discord waits three seconds, the store may take longer.
        """
        acknowledging = asyncio.create_task(_acknowledge(interaction))
        try:
            said = await self._admit(interaction, choice)
        except StateError as error:
            log.warning("press not admitted", inbound=str(interaction.id), reason=str(error))
            said = texts.here().store_away
        finally:
            await asyncio.wait({acknowledging})
        if said is not None and acknowledging.result():
            await _refuse(interaction, said)

    async def _admit(self, interaction: discord.Interaction[Any], choice: Choice) -> str | None:
        """Let a press through the door; answer what to tell the person instead, if it may not."""
        user, conversation = interaction.user, here(interaction)
        offer = await offered(self.state, conversation, choice.token, choice.number)
        if offer is None or refusal(offer, str(user.id)) is not None:
            return refusal(offer, str(user.id))
        roles = user._roles if isinstance(user, discord.Member) else ()  # noqa: SLF001 (as it came)
        guild = str(interaction.guild_id) if interaction.guild_id else None
        if not self.allows(asking(str(user.id), roles, guild, interaction.channel)):
            return texts.here().not_allowed
        await self.door.enter(_message(interaction, offer), TO_US)
        return None


def _message(interaction: discord.Interaction[Any], offer: Offer) -> Message:
    """Reduce a press to an inbound. Its text is the button's, as if that had been written."""
    under = interaction.message
    return Message(
        id=str(interaction.id),
        channel=str(interaction.channel_id),
        guild=str(interaction.guild_id) if interaction.guild_id else None,
        author=person_of(interaction.user),
        text=offer.label,
        addressed=True,
        responder=offer.responder,
        reply_to=Quoted(str(under.id), person_of(under.author), under.content) if under else None,
        parent=parent_of(interaction.channel),
        category=category_of(interaction.channel),
        trigger=offer.trigger(),
    )


async def _acknowledge(interaction: discord.Interaction[Any]) -> bool:
    """Tell Discord that the press was heard; whether that was us and not another process."""
    try:
        await interaction.response.defer()
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        log.info("press not acknowledged", inbound=str(interaction.id), reason=str(error))
        return False
    return True


async def _refuse(interaction: discord.Interaction[Any], text: str) -> None:
    """Tell the person alone; buttons that do nothing any more become grey."""
    try:
        if text == texts.here().expired_button and interaction.message is not None:
            await _grey(interaction, interaction.message)
        await interaction.followup.send(text, ephemeral=True)
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        log.info("press not answered", inbound=str(interaction.id), reason=str(error))


async def _grey(interaction: discord.Interaction[Any], message: discord.Message) -> None:
    """Disable the button that was pressed, if it is there: an id may be made up."""
    pressed = str(dict(interaction.data or {}).get("custom_id", ""))
    view = discord.ui.View.from_message(message, timeout=None)
    view.stop()  # discord.py is to keep nothing of it
    for item in view.children:
        if isinstance(item, discord.ui.Button) and item.custom_id == pressed:
            item.disabled = True
            await interaction.edit_original_response(view=view)


def choice_of(interaction: discord.Interaction[Any]) -> Choice | None:
    """Read which button of a responder was pressed, if any."""
    if interaction.type is not discord.InteractionType.component:
        return None
    return read_choice(str(dict(interaction.data or {}).get("custom_id", "")))
