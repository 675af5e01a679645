"""The files and folders that settings name: the token's file, and folders with cogs."""

from pathlib import Path

import pytest

import cogs
from bot.config import load
from bot.errors import ConfigInvalid

pytestmark = pytest.mark.usefixtures("empty_folder")


def token_file(text: str, mode: int = 0o600) -> dict[str, str]:
    """Write a token's file and answer the environment that names it."""
    path = Path("token")
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return {"INTERLOCK_DISCORD__TOKEN_FILE": "token"}


def problem(environ: dict[str, str]) -> str:
    """Load what must not load, and answer its one line."""
    with pytest.raises(ConfigInvalid) as caught:
        load(None, {}, environ)
    [line] = caught.value.lines
    return line


def test_the_token_may_stand_in_a_file_of_its_own() -> None:
    """As secrets are mounted; the line end of an editor is not part of it."""
    found = load(None, {}, token_file("canary\n"))
    assert found.settings.discord.token is not None
    assert found.settings.discord.token.get_secret_value() == "canary"
    assert found.origins["discord.token"] == "discord.token_file token"


def test_a_token_in_the_environment_wins_over_the_file() -> None:
    """Which is then not even opened."""
    environ = {"INTERLOCK_DISCORD__TOKEN_FILE": "missing", "INTERLOCK_TOKEN": "other"}
    token = load(None, {}, environ).settings.discord.token
    assert token is not None
    assert token.get_secret_value() == "other"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_token_file_that_others_may_read_is_refused(mode: int) -> None:
    """With the command that mends it, and without the token."""
    line = problem(token_file("canary", mode))
    assert line == (
        "environment INTERLOCK_DISCORD__TOKEN_FILE: discord.token_file: token is open to other"
        f" users (mode {mode:04o}); run: chmod 600 token"
    )


def test_a_token_file_that_is_not_there_is_one_line() -> None:
    """A wrong path must not look like a missing token."""
    line = problem({"INTERLOCK_DISCORD__TOKEN_FILE": "missing"})
    assert "discord.token_file: missing cannot be read: No such file or directory" in line


@pytest.mark.parametrize("text", ["", "\n", "two words", "TOKEN=a b\n"])
def test_a_token_file_that_holds_something_else_is_refused(text: str) -> None:
    """A copied `.env`, an empty mount; nothing of it is repeated."""
    assert "token holds no token" in problem(token_file(text))


def test_a_folder_of_extensions_must_exist() -> None:
    """Otherwise the extension would be reported as missing, which is the wrong trail."""
    line = problem({"INTERLOCK_EXTENSION_PATHS": "./nowhere"})
    assert line.endswith('"nowhere" is no folder; name the folder that holds your modules')


def test_a_folder_of_ones_own_that_is_called_cogs_is_refused(empty_folder: Path) -> None:
    """Python would find one of the two and hide the other; the line names both."""
    (empty_folder / "my" / "cogs").mkdir(parents=True)
    line = problem({"INTERLOCK_EXTENSION_PATHS": "my"})
    ours = Path(cogs.__file__).parent
    assert f"{empty_folder / 'my' / 'cogs'} and {ours} are both called cogs; rename yours" in line


def test_a_folder_of_ones_own_is_accepted(empty_folder: Path) -> None:
    """And so is the application's own, which holds the one true `cogs`."""
    (empty_folder / "my").mkdir()
    home = Path(cogs.__file__).parents[1]
    found = load(None, {}, {"INTERLOCK_EXTENSION_PATHS": f"my,{home}"})
    assert found.settings.extension_paths == ("my", str(home))
