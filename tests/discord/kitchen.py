"""A cog as an author may write it: a responder, and commands that ask for turns, well or ill."""

import json
from collections.abc import AsyncGenerator

import discord
from discord import app_commands
from discord.ext import commands

from bot import Turn
from bot.client import Interlock

Used = discord.Interaction[Interlock]


@app_commands.context_menu(name="Explain")
async def explain(interaction: Used, message: discord.Message) -> None:
    """Explain a message."""
    await interaction.client.start_turn(interaction, message.content)


class Kitchen(commands.Cog):
    """Cooks."""

    group = app_commands.Group(name="cook", description="Cook something")

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Tell what was asked for, and how; or what was said before."""
        if turn.text == "around":
            yield " | ".join(remark.text for remark in await turn.context(5))
            return
        yield f"{turn.text} by {turn.trigger.kind} {turn.trigger.name}: "
        yield json.dumps(turn.trigger.payload)

    @group.command()
    async def soup(self, interaction: Used, spoons: int, hot: bool = True) -> None:
        """Cook soup."""
        await interaction.client.start_turn(interaction, "soup", responder="Kitchen")

    @group.command()
    async def given(self, interaction: Used) -> None:
        """Cook with a payload."""
        await interaction.client.start_turn(
            interaction, "stew", responder="Kitchen", payload={"from": ["author"]}
        )

    @group.command()
    async def around(self, interaction: Used) -> None:
        """Look around."""
        await interaction.client.start_turn(interaction, "around", responder="Kitchen")

    @group.command()
    async def late(self, interaction: Used) -> None:
        """Ask for a turn after an answer."""
        await interaction.response.send_message("here")
        await interaction.client.start_turn(interaction, "too late")

    @group.command()
    async def nobody(self, interaction: Used) -> None:
        """Ask for a responder that is not there."""
        await interaction.client.start_turn(interaction, "hello", responder="Nobody")

    @group.command()
    async def odd(self, interaction: Used) -> None:
        """Ask with a payload that is no JSON."""
        await interaction.client.start_turn(interaction, "hello", payload=object())


async def setup(bot: Interlock) -> None:
    """Add both."""
    await bot.add_cog(Kitchen())
    bot.tree.add_command(explain)
