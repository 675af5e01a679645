"""What `interlock init` asks, writes into the working directory, and says at its end."""

import os
import sys
from pathlib import Path

import typer
from dotenv import set_key

from bot.cli.portal import Application
from bot.config import DEFAULT_FILE
from bot.errors import StartupFailed

TOKEN_VARIABLE = "INTERLOCK_DISCORD__TOKEN"  # noqa: S105 - the name, not a token

_EXAMPLE = Path(__file__).resolve().parents[2] / "config.example.toml"


def read_token(*, from_stdin: bool) -> str:
    """Take the token from a person who types it unseen, or from standard input."""
    if from_stdin:
        token = sys.stdin.readline().strip()
    elif sys.stdin.isatty():
        typer.echo("The token is shown once at https://discord.com/developers/applications,")
        typer.echo("under your application, Bot, Reset Token.")
        token = str(typer.prompt("Token (not shown)", hide_input=True)).strip()
    else:
        raise StartupFailed("interlock init: no terminal to ask on; pipe the token: --token-stdin")
    if not token or any(character.isspace() for character in token):
        raise StartupFailed("interlock init: this is no token; it is one word without spaces")
    return token


def save_token(path: Path, token: str) -> None:
    """Set the token in the `.env` file *path*, keep its other lines, make its mode 0600."""
    # Closed to others before there is a token in it; set_key replaces the file and keeps its mode.
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    path.chmod(0o600)
    set_key(path, TOKEN_VARIABLE, token, quote_mode="never")


def write_settings(path: Path = DEFAULT_FILE) -> bool:
    """Copy the example to *path*, and answer whether it was missing."""
    if path.exists():
        return False
    path.write_text(_EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    return True


def welcome(application: Application, dotenv: Path, *, settings_written: bool) -> str:
    """Show what `interlock init` did, and what is left to do."""
    lines = [
        f"✔ {application.bot_name} (application {application.id}); its token is in {dotenv}",
        "✔ interlock.toml written" if settings_written else "✔ interlock.toml kept as it is",
    ]
    if not application.reads_messages:
        lines.append(f"✘ Switch on Message Content Intent at {application.portal}")
    lines += ["", "Add it to a server:", application.invite, "", "Start it: interlock"]
    return "\n".join(lines)
