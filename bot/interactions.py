"""What slash commands and buttons have in common: where, by whom, and an answer in time."""

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any

import aiohttp
import discord
import structlog

from bot import texts
from bot.inbound import conversation_of
from bot.refusals import ALREADY_ACKNOWLEDGED, UNKNOWN_INTERACTION
from state.errors import StateError
from state.values import Conversation

#: Seconds that a command may take before it is acknowledged with "thinking…".
#: Relation: Discord gives three, of which the way there and back take their part.
PROMPT = 0.8

#: What Discord says when another process of ours, which heard the same command, has answered it, or
#: when it is too late to.
ANSWERED = (ALREADY_ACKNOWLEDGED, UNKNOWN_INTERACTION)

log = structlog.get_logger(__name__)


class Privately(str):
    """An answer for the person alone, such as a refusal, also where others are public."""

    __slots__ = ()


async def answer(
    interaction: discord.Interaction, work: Coroutine[Any, Any, str], *, public: bool = False
) -> None:
    """
    Answer with what *work* says, deferring first when it takes long.

    Only the person sees it, unless *public* and it is not said `Privately`.
    """
    doing = asyncio.create_task(_said(work), name=f"command {interaction.id}")
    try:
        done, _ = await asyncio.wait({doing}, timeout=PROMPT)
        if not done:
            await interaction.response.defer(ephemeral=not public, thinking=True)
            await interaction.edit_original_response(content=await doing)
        else:
            said = doing.result()
            private = not public or isinstance(said, Privately)
            await interaction.response.send_message(said, ephemeral=private)
    except discord.HTTPException as error:
        if error.code in ANSWERED:
            log.info("command answered elsewhere", code=error.code)
        else:
            log.error("command not answered", code=error.code, reason=error.text)  # noqa: TRY400
    except (aiohttp.ClientError, OSError) as error:
        log.warning("command not answered", reason=repr(error))
    finally:
        doing.cancel()
        await asyncio.wait({doing})


async def _said(work: Coroutine[Any, Any, str]) -> str:
    try:
        return await work
    except StateError as error:
        log.warning("command failed", reason=str(error))
        return Privately(texts.here().store_away)


def here(interaction: discord.Interaction) -> Conversation:
    """Name the conversation in which a command was used."""
    guild = str(interaction.guild_id) if interaction.guild_id else None
    return conversation_of(str(interaction.channel_id), guild, str(interaction.user.id))


def moderates(interaction: discord.Interaction, operators: Collection[str]) -> bool:
    """
    Decide by the rights that Discord sent with the interaction, or the operators' list.

    In a direct message the person is their own moderator.
    """
    if interaction.guild_id is None:
        return True
    return interaction.permissions.manage_messages or str(interaction.user.id) in operators
