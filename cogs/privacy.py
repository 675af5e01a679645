"""/forget and /export: what is kept about a person, to be removed or to be read by them."""

import io
import json
from collections.abc import AsyncIterator
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.ext import commands

from bot import texts
from bot.client import Interlock
from bot.insist import insist
from bot.interactions import answer, here
from bot.notices import readable
from bot.overview import letters
from bot.transcript import Said, read
from state.errors import StateError
from state.keys import Author, Owner
from state.values import Conversation

#: Transcript entries read of one conversation: more than one can keep.
EVERY_ENTRY = 10_000

log = structlog.get_logger(__name__)


class Privacy(commands.Cog):
    """Answers people about themselves alone."""

    def __init__(self, bot: Interlock) -> None:
        """Read and forget in *bot*'s store."""
        self._bot = bot

    @app_commands.command()
    @app_commands.describe(really="True: remove it now, everywhere, for good")
    async def forget(self, interaction: discord.Interaction, *, really: bool = False) -> None:
        """Remove all that is kept of what you wrote, everywhere."""
        await answer(interaction, self._forget(interaction, really=really))

    @app_commands.command()
    async def export(self, interaction: discord.Interaction) -> None:
        """Send you what is kept about you, as a file that only you see."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            kept = await self._kept(interaction)
        except StateError as error:
            log.warning("export failed", reason=str(error))
            await interaction.edit_original_response(content=texts.here().store_away)
            return
        body = json.dumps(kept, ensure_ascii=False, indent=2).encode("utf-8", "replace")
        name = f"interlock-{interaction.user.id}.json"
        await interaction.edit_original_response(
            content=texts.here().exported,
            attachments=[discord.File(io.BytesIO(body), name)],
        )

    async def _forget(self, interaction: discord.Interaction, *, really: bool) -> str:
        if not really:
            return texts.here().forget_warning
        person = str(interaction.user.id)
        for target in (Author(person), Owner(f"user/{person}")):
            while not (await insist(lambda: self._bot.state.forget(target))).done:  # noqa: B023 (awaited here)
                pass
        log.info("person forgotten", by=person)
        return texts.here().forgotten

    # --- what is kept ----------------------------------------------------------------------------

    async def _kept(self, interaction: discord.Interaction) -> dict[str, Any]:
        """Gather it: this server's conversations as far as they are known, and direct messages."""
        person, place = str(interaction.user.id), here(interaction)
        owners = dict.fromkeys((place.owner, f"user/{person}"))
        conversations: dict[Conversation, None] = {place: None}
        async for followed in self._followed():
            if followed.owner in owners:
                conversations[followed] = None
        said = {one.id: await self._said(one, person) for one in conversations}
        return {
            "person": {"id": person, "name": interaction.user.display_name},
            "conversations": {channel: entries for channel, entries in said.items() if entries},
            "timers": [one for owner in owners for one in await self._timers(owner, person)],
            "given_up": [one for owner in owners for one in await self._given_up(owner, person)],
        }

    async def _followed(self) -> AsyncIterator[Conversation]:
        cursor: str | None = None
        while True:
            page = await self._bot.state.subscriptions(cursor)
            for conversation in page.conversations:
                yield conversation
            if (cursor := page.cursor) is None:
                return

    async def _said(self, conversation: Conversation, person: str) -> list[dict[str, str]]:
        """What the person said there; in direct messages also what was answered."""
        entries = await self._bot.state.history(conversation, limit=EVERY_ENTRY)
        alone = conversation.owner == f"user/{person}"
        return [
            {"by": _name(said), "text": said.text}
            for said in read(entries)
            if alone or (said.author is not None and said.author.id == person)
        ]

    async def _timers(self, owner: str, person: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = await self._bot.state.schedules(owner, cursor)
            for one in page.timers:
                for message in readable([one.timer.inbound]):
                    if message.author.id == person:
                        due = {"channel": message.channel, "due_in_seconds": round(one.due_in)}
                        found.append({**due, "text": message.text})
            if (cursor := page.cursor) is None:
                return found

    async def _given_up(self, owner: str, person: str) -> list[dict[str, str]]:
        return [
            {"channel": message.channel, "text": message.text, "why": letter.error}
            for letter in await letters(self._bot.state, owner)
            for message in readable(letter.inbounds)
            if message.author.id == person
        ]


def _name(said: Said) -> str:
    return said.author.name if said.author is not None else "bot"


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Privacy(bot))
