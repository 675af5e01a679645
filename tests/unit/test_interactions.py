"""An answer to a command that Discord does not take."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import discord
import pytest
import structlog

from bot.interactions import answer


def refusing(status: int, code: int) -> discord.Interaction:
    """Make an interaction whose response Discord refuses."""
    response = SimpleNamespace(status=status, reason="")
    error = discord.HTTPException(cast("Any", response), {"code": code, "message": "no"})
    send = SimpleNamespace(send_message=AsyncMock(side_effect=error))
    return cast("discord.Interaction", SimpleNamespace(id=1, response=send))


async def said() -> str:
    """Say something."""
    return "hello"


@pytest.mark.parametrize(
    ("status", "code", "level", "event"),
    [
        (400, 40060, "info", "command answered elsewhere"),
        (404, 10062, "info", "command answered elsewhere"),
        (400, 50035, "error", "command not answered"),
    ],
)
async def test_only_an_answer_by_another_process_is_no_error(
    status: int, code: int, level: str, event: str
) -> None:
    """One that Discord finds wrong is a fault of ours, and somebody should hear of it."""
    with structlog.testing.capture_logs() as logged:
        await answer(refusing(status, code), said())
    [line] = logged
    assert (line["log_level"], line["event"], line["code"]) == (level, event, code)
