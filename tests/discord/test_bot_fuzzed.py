"""What no client would send: the bot goes on, keeps nothing of it, and answers what comes next."""

import asyncio
import sys
from typing import Any

import pytest
import structlog

from bot.client import Interlock
from sandbox import Sandbox
from sandbox.limits import UNLIMITED
from tests.discord.bots import Room, running
from tests.discord.fuzzing import Fuzz
from tests.waiting import wait_until

#: Nobody is refused for asking too much, and no channel has many turns to come when it is over.
SETTINGS: dict[str, Any] = {
    "extensions": ("cogs.echo", "cogs.control"),
    "limits": {"person_turns_per_minute": 1000, "owner_turns_per_day": 1_000_000},
    "conversation": {"inbox": 3, "responder": "Echo"},
}


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what events have failed with; an event that fails is a bug."""
    failures: list[str] = []

    async def on_error(_bot: Interlock, event: str, /, *_: object, **__: object) -> None:
        failures.append(f"{event}: {sys.exc_info()[1]!r}")

    monkeypatch.setattr(Interlock, "on_error", on_error)
    return failures


@pytest.fixture(autouse=True)
def _plain_tracebacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One drawn by rich, of each command that there is not, would take most of the time."""
    for processor in structlog.get_config()["processors"]:
        if isinstance(processor, structlog.dev.ConsoleRenderer):
            monkeypatch.setattr(processor, "_exception_formatter", structlog.dev.plain_traceback)


async def _rests(bot: Interlock) -> None:
    """Wait until nothing of what was heard is being worked on."""

    def rests() -> bool:
        names = [task.get_name() for task in asyncio.all_tasks()]
        working = [name for name in names if name.startswith(("discord.py: on_", "conversation"))]
        return not (working or len(bot.locks) or len(bot.door._gate) or bot.notices._marks)

    await wait_until(rests, timeout=45, description="it rests")


@pytest.mark.parametrize(("seed", "count", "by_socket"), [(1, 300, True), (2, 10_000, False)])
async def test_events_drawn_at_random_leave_the_bot_healthy(
    monkeypatch: pytest.MonkeyPatch,
    failed: list[str],
    seed: int,
    count: int,
    by_socket: bool,
) -> None:
    """Some hundreds come over the gateway, thousands as discord.py has read them from it."""
    async with (
        Sandbox(limits=UNLIMITED) as sandbox,
        running(sandbox, monkeypatch, **SETTINGS) as bot,
    ):
        room, fuzz = Room(sandbox, "random"), Fuzz(sandbox, seed)
        (session,) = sandbox.connections.sessions.values()
        for number, (event, payload) in enumerate(fuzz.events(count)):
            if by_socket:
                session.dispatch(event, payload, room.world.discord)
            else:
                bot._connection.parsers[event](payload)
            if number % 20 == 0:
                await asyncio.sleep(0)
        quiet = Room(sandbox, "general")
        await _rests(bot)
        assert failed == [], f"seed {seed}"

        before = len(quiet.replies())
        quiet.say("Cy", "count to 7")
        await wait_until(
            lambda: "count to 7" in quiet.replies()[before:], description="a plain answer"
        )
        await _rests(bot)
