"""Presses of responders' buttons, as far as Discord is away while they are answered."""

from types import SimpleNamespace
from typing import cast
from unittest.mock import AsyncMock

import aiohttp
import discord
import pytest

from bot.access import Asking
from bot.buttons import Choice
from bot.choices import Choices
from tests.unit.fake_process import Process, hurry, running, script
from tests.unit.fakes import CHANNEL, GUILD


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


def _anybody(_: Asking) -> bool:
    return True


async def _press(bot: Process, error: Exception) -> None:
    """Press a button that is expired, while Discord answers nothing."""
    sent = SimpleNamespace(defer=AsyncMock(side_effect=error))
    press = SimpleNamespace(
        id=1,
        user=SimpleNamespace(id=101),
        guild_id=int(GUILD),
        channel_id=int(CHANNEL),
        channel=None,
        response=sent,
    )
    interaction = cast("discord.Interaction", press)
    made = Choices(bot.store.port, bot.door, _anybody)
    await made.chosen(interaction, Choice("token", 0))


@pytest.mark.parametrize(
    "error",
    [aiohttp.ServerDisconnectedError(), ConnectionResetError(), TimeoutError()],
    ids=["disconnected", "reset", "late"],
)
async def test_a_press_that_could_not_be_acknowledged_is_no_error_of_ours(
    error: Exception,
) -> None:
    """The connection was lost; nothing is left to be told to the person."""
    async with running(script("hello")) as bot:
        await _press(bot, error)
