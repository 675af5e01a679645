"""Commands of an author's own that ask for a turn, and what is said about a mistake in one."""

import json
import sys
from pathlib import Path

import pytest
import structlog.testing
from simcord.backend.serializers import message_payload
from simcord.enums import InteractionType

from bot import texts
from sandbox import Sandbox
from tests.discord.asking import Asking
from tests.discord.bots import running
from tests.discord.test_author_cog import block, write_cog
from tests.waiting import wait_until

KITCHEN = ("cogs.echo", "tests.discord.kitchen")
ECHO = {"responder": "Echo"}


async def test_the_twelve_lines_of_the_readme_are_a_command_that_is_answered_in_turn(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Copied as they stand, from a folder of their own."""
    cog = block("python", "start_turn(")
    assert sum(bool(line.strip()) for line in cog.splitlines()) <= 12
    write_cog(tmp_path, "cook", cog)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    async with running(
        sandbox,
        monkeypatch,
        conversation=ECHO,
        extensions=("cook", "cogs.echo"),
        extension_paths=("my",),
    ):
        room = Asking(sandbox)
        asked = room.use("Ada", "recipe", dish="soup")
        await room.until(asked, says="How do I cook soup?")


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        ("cook soup", {"spoons": 2, "hot": False}, {"spoons": 2, "hot": False}),
        ("cook given", {}, {"from": ["author"]}),
    ],
)
async def test_the_turn_knows_the_command_and_what_came_with_it(
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    options: dict[str, object],
    says: object,
) -> None:
    """Its options as Discord sent them, or the author's payload; by the responder they named."""
    async with running(sandbox, monkeypatch, conversation=ECHO, extensions=KITCHEN):
        room = Asking(sandbox)
        asked = room.use("Ada", command, **options)
        view = await room.until(asked, says=json.dumps(says))
        assert f"by command {command}: " in view["content"]


async def test_a_context_menu_asks_for_a_turn_about_what_it_was_used_on(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a target where slash commands have options."""
    settings = {"responder": "Kitchen"}
    async with running(sandbox, monkeypatch, conversation=settings, extensions=KITCHEN):
        room = Asking(sandbox)
        said = room.say("Bo", "a word", addressed=False)
        target = message_payload(room.world.discord, room.world.find_message(said))
        data = {
            "id": "1",
            "type": 3,
            "name": "Explain",
            "target_id": str(said),
            "resolved": {"messages": {str(said): dict(target)}},
        }
        asked, event = sandbox.interactions._open(
            InteractionType.APPLICATION_COMMAND, room.id, room.world.person("Ada").id, data
        )
        room.world.discord.emit("INTERACTION_CREATE", event)
        says = f'a word by command Explain: {{"target": "{said}"}}'
        await room.until(asked, says=says)


async def test_what_was_said_before_a_command_is_its_context(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the response to it, which is in the channel already and says nothing yet."""
    async with running(sandbox, monkeypatch, conversation=ECHO, extensions=KITCHEN):
        room = Asking(sandbox)
        for word in ("onions", "leeks"):
            room.say("Bo", word, addressed=False)
        asked = room.use("Ada", "cook around")
        view = await room.until(asked, says="leeks")
        assert view["content"] == "onions | leeks"


@pytest.mark.parametrize(
    ("command", "line", "told"),
    [
        (
            "cook late",
            (
                "start_turn: the interaction has its response already; call start_turn instead of"
                " answering or deferring"
            ),
            "here",
        ),
        (
            "cook nobody",
            'start_turn: the cog "Nobody" is not loaded; responders: Echo, Kitchen',
            texts.here().command_failed,
        ),
        (
            "cook odd",
            "start_turn: the payload is no JSON (Object of type object is not JSON serializable)",
            texts.here().command_failed,
        ),
    ],
)
async def test_a_mistake_in_calling_is_one_line_and_leaves_nobody_waiting(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, command: str, line: str, told: str
) -> None:
    """For the author in the log; who used the command is told that it failed."""
    async with running(sandbox, monkeypatch, conversation=ECHO, extensions=KITCHEN):
        room = Asking(sandbox)
        with structlog.testing.capture_logs() as logged:
            await room.until(room.use("Ada", command), says=told)
            failed = await wait_until(
                lambda: [entry for entry in logged if entry["event"] == "command failed"],
                description="it is logged",
            )
        assert failed == [
            {"event": "command failed", "log_level": "error", "command": command, "reason": line}
        ]
