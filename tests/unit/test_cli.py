"""The commands of `interlock`: what they print and what they exit with."""

import os
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import logs
from bot.config import Loaded, Settings
from bot.errors import ResponderInvalid, StartupFailed
from state.errors import StateUnavailable
from tests.unit.command_line import interlock, refused
from tests.unit.discord_stub import TOKEN


@pytest.fixture(autouse=True)
def _surroundings(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # so that no row of a table is folded
    # A command leaves its log configuration behind, which is right for a process and wrong here.
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Put a bot in place that notes its settings and ends well."""
    started: list[Settings] = []

    async def run(loaded: Loaded) -> int:
        started.append(loaded.settings)
        return 0

    replace_bot(monkeypatch, run)
    return started


def rows_of(table: str) -> dict[str, str]:
    """Map each key of a table to the rest of its row, what is wrapped aside."""
    lines = [line for line in table.splitlines() if not line.startswith(" ")]
    return dict(line.split(maxsplit=1) for line in lines)


def replace_bot(monkeypatch: pytest.MonkeyPatch, run: Callable[[Loaded], object]) -> None:
    """Let `bot.life.run` be *run*, without discord.py."""
    module = types.ModuleType("bot.life")
    module.__dict__["run"] = run
    monkeypatch.setitem(sys.modules, "bot.life", module)


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--shrads", "3"], "interlock: No such option: --shrads (Possible options: --shards)"),
        (["run", "--shards"], "interlock: Option '--shards' requires an argument."),
        (["run", "extra"], "interlock: Got unexpected extra argument(s) (extra)"),
        (["launch"], "interlock: No such command 'launch'."),
        (
            ["config", "--port", "x"],
            'flag --port: sandbox.port: "x" is no whole number; write digits only',
        ),
        (
            ["run", "--shards", "0-4", "--shard-count", "4"],
            "flag --shards: discord.shards: shard 4 is outside shard_count 4; use ids from 0 to 3",
        ),
        (
            ["run", "--shards", "0-4"],
            (
                "flag --shards: discord.shards: says nothing without a count;"
                " set discord.shard_count (--shard-count) as well"
            ),
        ),
        (
            ["--config", "missing.toml"],
            "missing.toml: no such file; `interlock init` writes interlock.toml with every key",
        ),
        (
            ["run"],
            "discord.token: there is none; run: interlock init, or set INTERLOCK_DISCORD__TOKEN",
        ),
        (
            ["--discord-api", "http://127.0.0.1:1"],
            "discord.token: there is none; run: interlock init, or set INTERLOCK_DISCORD__TOKEN",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words: list[str], line: str) -> None:
    """On standard error, without a traceback or a usage screen, with nothing started."""
    assert refused(*words) == line


@pytest.mark.parametrize(
    "command", ["start", "run", "sandbox", "init", "check", "invite", "config"]
)
def test_every_command_refuses_wrong_settings(command: str) -> None:
    """Before it does anything, all problems at once."""
    Path("interlock.toml").write_text("[state]\nlease = 15\nleaze = 1\n", encoding="utf-8")
    result = interlock(command)
    assert result.exit_code == 2
    assert [line.split(": ")[:2] for line in result.stderr.splitlines()] == [
        ["interlock.toml", "state.lease"],
        ["interlock.toml", "state.leaze"],
    ]


def test_the_help_names_every_command() -> None:
    """The first thing to try, and it needs no settings."""
    Path("interlock.toml").write_text("[", encoding="utf-8")
    result = interlock("--help")
    assert result.exit_code == 0
    for command in ("start", "run", "sandbox", "init", "check", "invite", "config"):
        assert f" {command} " in result.stdout


# ------------------------------------------------------------------------------------- config


def test_config_shows_each_value_and_where_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row a key, in one place what would else be looked up in four."""
    Path("interlock.toml").write_text('[state]\nlease = "90s"\n', encoding="utf-8")
    Path(".env").write_text("INTERLOCK_HISTORY__KEEP=7\n", encoding="utf-8")
    monkeypatch.setenv("INTERLOCK_ACCESS__OPERATORS", "1,2")
    output = interlock("config", "--shards", "0-1", "--shard-count", "4").stdout
    rows = rows_of(output)
    assert rows["state.lease"].split() == ["90s", "interlock.toml"]
    assert rows["history.keep"].split() == ["7", ".env", "INTERLOCK_HISTORY__KEEP"]
    assert rows["access.operators"].split()[:3] == ["1,", "2", "environment"]
    assert rows["discord.shards"].split() == ["0,", "1", "flag", "--shards"]
    assert rows["conversation.reactions"].split() == ["true", "default"]
    assert rows["discord.token"].split() == ["(none)", "default"]


def test_config_hides_every_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token, passwords in addresses, and whatever a cog calls a key or a secret."""
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    monkeypatch.setenv("INTERLOCK_STATE__URL", "redis://user:canary@host:6379/0")
    Path("interlock.toml").write_text(
        '[cogs.chat]\napi_key = "canary"\nbase_url = "http://a:canary@h/"\n"a.b" = 1\n'
        '[cogs.chat.deep]\nsecret = "canary"\n',
        encoding="utf-8",
    )
    output = interlock("config").stdout
    rows = rows_of(output)
    assert rows["discord.token"].startswith("***")
    assert rows["state.url"].startswith("redis://user:***@host:6379/0")
    assert rows["cogs.chat.api_key"].startswith("***")
    assert rows["cogs.chat.deep.secret"].startswith("***")
    assert rows["cogs.chat.a.b"].startswith("1")


# ---------------------------------------------------------------------------------------- run


@pytest.mark.parametrize("words", [[], ["start"], ["run"]])
def test_with_a_token_the_bot_is_run(
    words: list[str], ran: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`interlock` alone does what `interlock run` does."""
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    assert interlock(*words, "--shards", "0-3", "--shard-count", "16").exit_code == 0
    [settings] = ran
    assert settings.discord.shards == (0, 1, 2, 3)


def test_the_bots_exit_code_is_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever supervises the process reads it."""

    async def run(loaded: Loaded) -> int:
        return 3

    replace_bot(monkeypatch, run)
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    assert interlock("run").exit_code == 3


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            ResponderInvalid("conversation.responder: no such cog"),
            "conversation.responder: no such cog",
        ),
        (
            StateUnavailable("nobody listens"),
            "state.url: redis://:***@h:1/0: nobody listens",
        ),
        (StartupFailed(f"Discord says {TOKEN}"), "Discord says ***"),
    ],
)
def test_what_keeps_the_bot_from_starting_is_one_line(
    error: Exception, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is not there is no bug of ours, and gets no traceback."""

    async def run(loaded: Loaded) -> int:
        raise error

    replace_bot(monkeypatch, run)
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    assert refused("run", "--state-url", "redis://:canary@h:1/0") == line


def test_other_lines_of_dotenv_reach_the_libraries(
    ran: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider's key is looked up in the environment; what is set there already wins."""
    monkeypatch.setenv("SET_BEFORE", "kept")
    monkeypatch.setenv("SOME_API_KEY", "")
    monkeypatch.delenv("SOME_API_KEY")
    Path(".env").write_text(f"SOME_API_KEY=k\nSET_BEFORE=x\nINTERLOCK_TOKEN={TOKEN}\n")
    assert interlock("run").exit_code == 0
    assert (os.environ.pop("SOME_API_KEY"), os.environ["SET_BEFORE"]) == ("k", "kept")
    assert "INTERLOCK_TOKEN" not in os.environ
