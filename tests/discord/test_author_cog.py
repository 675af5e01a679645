"""A cog of somebody's own, as the README shows it, and what is said about one with a mistake."""

import re
import sys
from pathlib import Path

import pytest

from bot.client import Interlock
from bot.config import load
from bot.errors import StartupFailed
from sandbox import Sandbox
from state import connect
from tests.discord.bots import ROOT, Room, online, process, refused


def block(language: str, holding: str) -> str:
    """Find the one block of code of the README in this language that holds such a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    [found] = [text for text in blocks if holding in text]
    return str(found)


def write_cog(folder: Path, name: str, text: str) -> dict[str, str]:
    """Put a module into `my/`, and answer the environment that loads it alone."""
    (folder / "my").mkdir(exist_ok=True)
    (folder / "my" / f"{name}.py").write_text(text)
    return {
        "INTERLOCK_EXTENSION_PATHS": "my",
        "INTERLOCK_EXTENSIONS": name,
        "INTERLOCK_CONVERSATION__RESPONDER": name.capitalize(),
    }


async def test_the_ten_lines_of_the_readme_answer_from_a_folder_of_their_own(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Copied as they stand, with the README's three lines of TOML, they are a bot."""
    cog, settings = block("python", "class Parrot"), block("toml", "extension_paths")
    assert sum(bool(line.strip()) for line in cog.splitlines()) <= 10
    assert len(settings.splitlines()) == 3
    write_cog(tmp_path, "parrot", cog)
    (tmp_path / "interlock.toml").write_text(settings)

    async with process(sandbox, tmp_path) as bot:
        await online(sandbox)
        room = Room(sandbox)
        room.say("Ada", "a b c")
        await room.until_replies("a b c")
        bot.terminate()
        assert await bot.wait() == 0
    assert room.replies() == ["a b c"]


COG = """
from discord.ext import commands

class {name}(commands.Cog):
    {respond}

async def setup(bot: commands.Bot) -> None:
    await bot.add_cog({name}())
"""

NO_GENERATOR = (
    "conversation.responder: {name}.respond is no async generator;"
    ' write "async def respond(self, turn)" with at least one "yield"'
)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (
            "coroutine",
            COG.format(name="Coroutine", respond='async def respond(self, turn): return "a"'),
            NO_GENERATOR.format(name="Coroutine"),
        ),
        (
            "plain",
            COG.format(name="Plain", respond='def respond(self, turn): yield "a"'),
            NO_GENERATOR.format(name="Plain"),
        ),
        (
            "mute",
            COG.format(name="Mute", respond="pass"),
            'conversation.responder: the cog "Mute" has no respond(turn); responders: none',
        ),
        (
            "needy",
            "import canary_lib",
            "extensions: needy does not load: ModuleNotFoundError: No module named 'canary_lib'",
        ),
        (
            "wordy",
            "raise ValueError('two\\nlines')",
            "extensions: wordy does not load: ValueError: two lines",
        ),
        (
            "typo",
            "def setup(bot:",
            "extensions: typo does not load: SyntaxError: '(' was never closed (typo.py, line 1)",
        ),
        ("bare", "", 'extensions: bare has no "async def setup(bot)"'),
    ],
)
async def test_a_mistake_in_a_cog_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, line: str
) -> None:
    """It names the extension or the cog, what is wrong and what would be right."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    settings = load(None, {}, write_cog(tmp_path, name, text)).settings
    async with Interlock(settings, connect("memory:")) as bot:
        with pytest.raises(StartupFailed) as failed:
            await bot.load()
    assert failed.value.lines == (line,)


async def test_a_responder_that_is_no_generator_keeps_the_bot_from_starting(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Exit code 2 before Discord hears anything of it."""
    cog = COG.format(name="Coroutine", respond='async def respond(self, turn): return "a"')
    line = await refused(sandbox, tmp_path, **write_cog(tmp_path, "coroutine", cog))
    assert line == NO_GENERATOR.format(name="Coroutine")
    assert sandbox.log.since(0) == []


async def test_a_folder_called_cogs_is_refused_with_both_names(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Otherwise one of the two would be found by accident, and the other never."""
    (tmp_path / "my" / "cogs").mkdir(parents=True)
    line = await refused(sandbox, tmp_path, INTERLOCK_EXTENSION_PATHS="my")
    assert f"{tmp_path / 'my' / 'cogs'} and {ROOT / 'cogs'} are both called cogs" in line
    assert sandbox.log.since(0) == []
