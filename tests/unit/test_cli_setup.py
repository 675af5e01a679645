"""`interlock init`, `invite` and `check`: from a token to a bot that can start."""

import json
import stat
import types
from pathlib import Path

import pytest
import typer

from bot.cli import setup
from bot.config import load
from tests.unit.command_line import interlock, refused
from tests.unit.discord_stub import APPLICATION, TOKEN, DiscordStub

INVITE = (
    f"https://discord.com/oauth2/authorize?client_id={APPLICATION}"
    "&scope=bot+applications.commands&permissions=274878024768"
)

pytestmark = pytest.mark.usefixtures("empty_folder")


# --------------------------------------------------------------------------------------- init


def test_init_checks_the_token_and_leaves_all_that_a_start_needs(discord: DiscordStub) -> None:
    """`.env` for its owner alone, a settings file with every key, and the invite link unbroken."""
    result = interlock("init", "--token-stdin", "--discord-api", discord.api, typed=f"{TOKEN}\n")
    assert result.exit_code == 0
    assert INVITE in result.stdout.splitlines()
    assert f"Parrot (application {APPLICATION})" in result.stdout
    assert stat.S_IMODE(Path(".env").stat().st_mode) == 0o600
    assert Path(".env").read_text() == f"INTERLOCK_DISCORD__TOKEN={TOKEN}\n"
    assert "#lease" in Path("interlock.toml").read_text(encoding="utf-8")
    settings = load(None, {}, {}, dotenv=Path(".env")).settings
    assert settings.discord.token is not None
    assert settings.discord.token.get_secret_value() == TOKEN


def test_init_keeps_what_is_there(discord: DiscordStub) -> None:
    """Other variables, comments and the settings stay; an open `.env` is closed."""
    before = "# mine\nOPENAI_API_KEY=k\nINTERLOCK_DISCORD__TOKEN=old\nLAST=1"
    Path(".env").write_text(before, encoding="utf-8")
    Path(".env").chmod(0o644)
    Path("interlock.toml").write_text("# mine\n", encoding="utf-8")
    result = interlock("init", "--token-stdin", "--discord-api", discord.api, typed=TOKEN)
    assert result.exit_code == 0
    assert Path(".env").read_text() == before.replace("=old", f"={TOKEN}")
    assert stat.S_IMODE(Path(".env").stat().st_mode) == 0o600
    assert Path("interlock.toml").read_text(encoding="utf-8") == "# mine\n"


def test_init_asks_for_the_token_without_showing_it(
    discord: DiscordStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token on a screen ends in a screenshot."""
    asked: list[bool] = []

    def prompt(_: str, *, hide_input: bool) -> str:
        asked.append(hide_input)
        return f" {TOKEN} "

    terminal = types.SimpleNamespace(stdin=types.SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(setup, "sys", terminal)
    monkeypatch.setattr(typer, "prompt", prompt)
    assert interlock("init", "--discord-api", discord.api).exit_code == 0
    assert asked == [True]
    assert TOKEN in Path(".env").read_text()


def test_init_says_which_switch_is_missing(discord: DiscordStub) -> None:
    """Without message content the bot would hear nothing that people write in channels."""
    discord.flags = 0
    result = interlock("init", "--token-stdin", "--discord-api", discord.api, typed=TOKEN)
    portal = f"https://discord.com/developers/applications/{APPLICATION}/bot"
    assert f"✘ Switch on Message Content Intent at {portal}" in result.stdout.splitlines()


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("\n", "interlock init: this is no token; it is one word without spaces"),
        ("two words\n", "interlock init: this is no token; it is one word without spaces"),
        (
            "wrong\n",
            (
                "discord.token: Discord refuses it; copy it anew from"
                " https://discord.com/developers/applications and run: interlock init"
            ),
        ),
    ],
)
def test_init_with_a_wrong_token_writes_nothing(
    typed: str, line: str, discord: DiscordStub, empty_folder: Path
) -> None:
    """Half a set-up is worse than none."""
    assert refused("init", "--token-stdin", "--discord-api", discord.api, typed=typed) == line
    assert list(empty_folder.iterdir()) == []


def test_init_without_a_terminal_says_how_to_pipe_the_token() -> None:
    """In a script nobody can answer."""
    assert refused("init", typed="x") == (
        "interlock init: no terminal to ask on; pipe the token: --token-stdin"
    )


# ------------------------------------------------------------------------------ invite, check


def test_invite_shows_the_link_alone_for_a_script_to_read(
    discord: DiscordStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """View, send, send in threads, read history, react, attach, embed: and nothing else."""
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    assert interlock("invite", "--discord-api", discord.api).stdout == f"{INVITE}\n"
    names = {
        6: "react",
        10: "view",
        11: "send",
        14: "embed",
        15: "attach",
        16: "read",
        38: "threads",
    }
    assert int(INVITE.rpartition("=")[2]) == sum(1 << bit for bit in names)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, b"{}", "answers 500; try again later"),
        (200, b"<html>", "cannot be reached"),
        (200, b"[]", "is no Discord"),
    ],
)
def test_an_answer_that_makes_no_sense_is_one_line(
    status: int, body: bytes, said: str, discord: DiscordStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy's error page, an outage, another program on that port."""
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    discord.status, discord.body = status, body
    line = refused("invite", "--discord-api", discord.api)
    assert line.startswith(f"{discord.api}/users/@me")
    assert said in line


def test_an_address_where_nobody_listens_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the key that may be wrong."""
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    line = refused("invite", "--discord-api", "http://127.0.0.1:1/api")
    assert line.startswith("http://127.0.0.1:1/api/users/@me cannot be reached")
    assert line.endswith("check the network and discord.api")


def checked(*words: str) -> tuple[int, dict[str, str]]:
    """Run `interlock check`; answer its exit code and each line by its name."""
    result = interlock("check", *words)
    lines = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    return result.exit_code, lines


def test_check_passes_when_everything_is_there(
    discord: DiscordStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line for each thing that a start needs."""
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    code, lines = checked("--discord-api", discord.api, "--state-url", "memory:")
    assert (code, list(lines)) == (
        0,
        ["✔ settings", "✔ extensions", "✔ token", "✔ intents", "✔ store"],
    )
    assert lines["✔ token"] == f"Parrot, application {APPLICATION}"


def test_check_says_what_to_do_about_each_thing_that_is_missing(
    discord: DiscordStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One failure does not hide the next."""
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    discord.flags = 0
    Path("interlock.toml").write_text('extensions = ["nowhere.parrot"]\n', encoding="utf-8")
    code, lines = checked(
        "--discord-api", discord.api, "--state-url", "sqlite:/nowhere/interlock.db"
    )
    assert (code, list(lines)) == (
        2,
        ["✔ settings", "✘ extensions", "✔ token", "✘ intents", "✘ store"],
    )
    assert lines["✘ extensions"].startswith("extensions: nowhere.parrot is not found")
    assert "switch on Message Content Intent at https://discord.com/" in lines["✘ intents"]
    assert lines["✘ store"].startswith("state.url: sqlite:/nowhere/interlock.db: ")


def test_check_reads_the_settings_of_cogs_as_a_start_would() -> None:
    """A cog knows its own keys; a typing error there is not left for the start to find."""
    Path("interlock.toml").write_text('[cogs.chat]\nmodle = "openai:x"\n', encoding="utf-8")
    code, lines = checked("--state-url", "memory:")
    assert code == 2
    assert lines["✘ extensions"] == (
        "interlock.toml: cogs.chat.modle: no such setting; did you mean cogs.chat.model?"
    )


def test_check_finds_a_responder_that_is_not_there() -> None:
    """The most likely typing error of a cog's author."""
    Path("interlock.toml").write_text('[conversation]\nresponder = "Parot"\n', encoding="utf-8")
    _, lines = checked("--state-url", "memory:")
    assert 'conversation.responder: the cog "Parot" is not loaded' in lines["✘ extensions"]


def test_check_without_a_token_says_how_to_get_one() -> None:
    """And says of the intents that they cannot be known."""
    code, lines = checked("--state-url", "memory:")
    assert code == 2
    assert "run: interlock init" in lines["✘ token"]
    assert lines["✘ intents"].startswith("unknown without a token")


def test_the_stub_speaks_as_discord_does(discord: DiscordStub) -> None:
    """The control for the tests above: another token is refused."""
    status, body = discord.answer("/api/v10/users/@me", "Bot other")
    assert (status, json.loads(body)["code"]) == (401, 0)
