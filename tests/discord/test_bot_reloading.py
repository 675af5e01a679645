"""A cog that is saved while the bot runs: the next reply comes from the new code."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from bot import reloading
from sandbox import Sandbox
from tests.discord.bots import Room, running
from tests.waiting import wait_until

COG = """
import asyncio
from discord.ext import commands
{imports}

class Saved(commands.Cog):
    async def respond(self, turn):
        yield "{answer}"
        if turn.text == "slowly":
            await self.bot.until_released.wait()
            yield " at last"

    def __init__(self, bot):
        self.bot = bot

async def setup(bot):
    await bot.add_cog(Saved(bot))
"""


MUTE = """
from discord.ext import commands

class Saved(commands.Cog):
    async def respond(self, turn):
        return "no generator"

async def setup(bot):
    await bot.add_cog(Saved())
"""

PICKY = """
from discord.ext import commands
from pydantic import BaseModel

class Needs(BaseModel):
    size: int

class Saved(commands.Cog):
    settings_model = Needs

    async def respond(self, turn):
        yield "picky"

async def setup(bot):
    await bot.add_cog(Saved())
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work beside `my/`, and look at files often."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(reloading, "EVERY", 0.02)
    (tmp_path / "my").mkdir()
    yield tmp_path / "my"
    for name in [name for name in sys.modules if name.partition(".")[0] in {"saved", "shelf"}]:
        del sys.modules[name]


def save(path: Path, answer: str, imports: str = "") -> None:
    """Save the cog as it answers from now on."""
    path.write_text(COG.format(answer=answer, imports=imports))


SETTINGS: dict[str, Any] = {
    "extensions": ["saved"],
    "extension_paths": ["my"],
    "extension_reload": True,
    "conversation": {"responder": "Saved"},
}


async def reloaded(logged: list[structlog.typing.EventDict], event: str, times: int = 1) -> str:
    """Wait until that is logged for so many times; its reason, if it has one."""

    def there() -> list[structlog.typing.EventDict]:
        lines = [line for line in logged if line["event"] == event]
        return lines if len(lines) == times else []

    lines = await wait_until(there, description=f"{event} is logged {times} times")
    return str(lines[-1].get("reason", ""))


async def test_a_saved_cog_answers_the_next_message(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """Also when it is saved twice within a second, in the same length."""
    save(folder / "saved.py", "one")
    with structlog.testing.capture_logs() as logged:
        async with running(sandbox, monkeypatch, **SETTINGS):
            room = Room(sandbox)
            for number, answer in enumerate(("two", "six", "ten"), start=1):
                save(folder / "saved.py", answer)
                await reloaded(logged, "extension loaded anew", number)
                room.say("Ada", "hello")
                await room.until_replies(*("two", "six", "ten")[:number])


async def test_a_reply_that_is_being_written_ends_in_the_old_code(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """What is said meanwhile gets it too; then the new one is loaded."""
    save(folder / "saved.py", "old")
    with structlog.testing.capture_logs() as logged:
        async with running(sandbox, monkeypatch, **SETTINGS) as bot:
            bot.until_released = asyncio.Event()  # type: ignore[attr-defined]
            room = Room(sandbox)
            room.say("Ada", "slowly")
            await room.until_replies("old")
            save(folder / "saved.py", "new")
            await reloaded(logged, "extension saved; a reply of it is being written")
            other = Room(sandbox, "random")
            other.say("Bo", "hello")
            await other.until_replies("old")
            bot.until_released.set()  # type: ignore[attr-defined]
            await room.until_replies("old at last")
            await reloaded(logged, "extension loaded anew")
            other.say("Bo", "hello")
            await other.until_replies("old", "new")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def setup(bot:", "extensions: saved does not load: SyntaxError: '(' was never closed"),
        ("raise ValueError('no')", "extensions: saved does not load: ValueError: no"),
        ("async def setup(bot): pass", 'the cog "Saved" is not loaded'),
        ("raise SystemExit", "extensions: saved does not load: SystemExit"),
        (MUTE, "Saved.respond is no async generator"),
        (PICKY, "cogs.saved.size: is missing; the cog needs it"),
    ],
)
async def test_a_broken_file_keeps_the_old_cog_and_says_why(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, folder: Path, text: str, reason: str
) -> None:
    """In one line; mended, it is loaded."""
    save(folder / "saved.py", "old")
    with structlog.testing.capture_logs() as logged:
        async with running(sandbox, monkeypatch, **SETTINGS):
            room = Room(sandbox)
            (folder / "saved.py").write_text(text)
            found = await reloaded(logged, "extension not loaded anew, the old one stays")
            assert reason in found
            assert "\n" not in found
            room.say("Ada", "hello")
            await room.until_replies("old")
            save(folder / "saved.py", "mended")
            await reloaded(logged, "extension loaded anew")
            room.say("Ada", "hello")
            await room.until_replies("old", "mended")


async def test_a_module_below_an_extension_belongs_to_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """A package is loaded anew as a whole."""
    (folder / "shelf").mkdir()
    save(folder / "shelf" / "__init__.py", '" + words.WORD + "', imports="from shelf import words")
    (folder / "shelf" / "words.py").write_text('WORD = "old"')
    with structlog.testing.capture_logs() as logged:
        async with running(sandbox, monkeypatch, **{**SETTINGS, "extensions": ["shelf"]}):
            (folder / "shelf" / "words.py").write_text('WORD = "newer"')
            await reloaded(logged, "extension loaded anew")
            room = Room(sandbox)
            room.say("Ada", "hello")
            await room.until_replies("newer")


async def test_nothing_is_watched_unless_it_is_asked_for(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """A bot in production runs what it was started with."""
    save(folder / "saved.py", "old")
    async with running(sandbox, monkeypatch, **{**SETTINGS, "extension_reload": False}):
        assert "extensions" not in {task.get_name() for task in asyncio.all_tasks()}
        save(folder / "saved.py", "new")
        room = Room(sandbox)
        room.say("Ada", "hello")
        await room.until_replies("old")
