"""`interlock new-cog`: what it writes works, and nothing is written over."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config import load
from tests.unit.command_line import interlock, refused

ROOT = Path(__file__).parents[2]


SOCKETS = """
import pytest

pytest_plugins = ["bot.testing.fixtures"]

@pytest.mark.asyncio
async def test_weather(room):
    room.says("Ada", "hello")
    assert (await room.reply()).startswith("You said: hello. Done as ")
"""


def python(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a Python program in *folder* as a person would, with the bot on its path."""
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_generated_test_passes(empty_folder: Path) -> None:
    """Run by pytest as it stands, with no configuration at all."""
    assert interlock("new-cog", "weather-report").exit_code == 0
    done = python(
        "pytest", "-q", "-p", "no:simcord", "my/test_weather_report.py", folder=empty_folder
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_the_cog_answers_over_real_sockets_by_the_settings_that_were_shown(
    empty_folder: Path,
) -> None:
    """The pytest plugin reads interlock.toml, which holds the lines as they stand."""
    shown = interlock("new-cog", "weather").stdout
    lines = shown[shown.index("extensions =") : shown.index("To try it")]
    (empty_folder / "interlock.toml").write_text(lines)
    (empty_folder / "test_sockets.py").write_text(SOCKETS)
    done = python("pytest", "-q", "-p", "no:simcord", "test_sockets.py", folder=empty_folder)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("words", [("check",), ("format", "--check", "--diff")])
def test_the_generated_code_is_as_clean_as_ours(empty_folder: Path, words: tuple[str, ...]) -> None:
    """By the rules of this repository."""
    interlock("new-cog", "Weather")
    (empty_folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    done = python("ruff", *words, "--no-cache", "my", folder=empty_folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lines_it_shows_are_settings_that_load(empty_folder: Path) -> None:
    """They keep the extensions that are there, and fit into 80 columns but for the long lists."""
    shown = interlock("new-cog", "weather").stdout
    lines = shown[shown.index("extensions =") : shown.index("To try it")]
    (empty_folder / "interlock.toml").write_text(lines)
    settings = load(None, {}, {}).settings
    assert settings.extensions[-1] == "weather"
    assert "cogs.control" in settings.extensions
    assert settings.extension_paths == ("my",)
    assert settings.conversation.responder == "Weather"


def test_nothing_is_written_over(empty_folder: Path) -> None:
    """Neither the cog nor its test, whichever is there."""
    mine = empty_folder / "elsewhere" / "test_weather.py"
    mine.parent.mkdir()
    mine.write_text("mine")
    line = refused("new-cog", "weather", "--path", "elsewhere")
    assert line == "elsewhere/test_weather.py is there already; choose another name or --path"
    assert mine.read_text() == "mine"
    assert not (empty_folder / "elsewhere" / "weather.py").exists()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("2fast", '"2fast" is no name for a cog; use words such as weather_report'),
        ("a/b", '"a/b" is no name for a cog; use words such as weather_report'),
        ("class", '"class" is no name for a cog; use words such as weather_report'),
        ("Ärger", '"Ärger" is no name for a cog; use words such as weather_report'),
        ("cogs", "cogs is a module of the bot; choose another name"),
        ("Random", "random is a module of Python; choose another name"),
    ],
)
def test_a_name_that_could_not_be_imported_is_refused(
    empty_folder: Path, name: str, line: str
) -> None:
    """In one line, and nothing is written."""
    assert refused("new-cog", name) == line
    assert list(empty_folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(empty_folder: Path) -> None:
    """A file where the folder would be."""
    (empty_folder / "my").write_text("")
    assert refused("new-cog", "weather") == "my cannot be written: File exists"


def test_the_line_to_try_it_names_a_python_that_runs_it(empty_folder: Path) -> None:
    """Who has not activated the venv, as after `make run`, finds no pytest by a bare "python"."""
    shown = interlock("new-cog", "weather").stdout
    words = shown[shown.index("To try it: ") :].removeprefix("To try it: ").split()
    assert shutil.which(words[0]) in {sys.executable, shutil.which("python")}
    assert words[1:] == ["-m", "pytest", "my/test_weather.py"]
