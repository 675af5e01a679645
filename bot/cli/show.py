"""Print what the commands have to say: tables and panels that fit a terminal of 80 columns."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import BaseModel, SecretStr
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bot.config import Loaded, Settings
from bot.config.units import duration_text
from bot.redaction import HIDDEN, hide_named, redact


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one look of `interlock check`: what was found, or what to do."""

    name: str
    passed: bool
    text: str


def console() -> Console:
    """Open standard output, made anew for each command: it may have been replaced."""
    return Console(highlight=False, soft_wrap=False)


def settings_table(loaded: Loaded) -> Table:
    """Show each key, its effective value and the place that decided it; secrets hidden."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("key", style="cyan", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", style="dim", overflow="fold")
    for key, origin in loaded.origins.items():
        value = _value(loaded.settings, key)
        changed = "" if origin == "default" else "bold"
        table.add_row(key, Text(value, style=changed), Text(origin))
    return table


def result_line(result: Result) -> Text:
    """Show one result of `interlock check`."""
    sign = Text("✔ ", style="green") if result.passed else Text("✘ ", style="red")
    return sign + Text(f"{result.name}: ", style="bold") + Text(redact(result.text))


def _command() -> str:
    """Name this program as it has to be typed here."""
    if shutil.which("interlock"):
        return "interlock"
    beside = Path(sys.argv[0])
    here = beside.resolve().relative_to(Path.cwd()) if _is_below(beside) else beside
    return str(here) if beside.name == "interlock" else "python -m bot"


def _is_below(path: Path) -> bool:
    return path.resolve().is_relative_to(Path.cwd())


def page_panel(page: str) -> Panel:
    """Show where to point a browser, and how to go on from there."""
    text = Text.assemble(
        ("Open ", ""),
        (page, "bold cyan"),
        (" and write to the bot.\n\n", ""),
        ("There is no Discord token, so this is a Discord on this machine.\n", ""),
        ("To connect to Discord: ", ""),
        (f"{_command()} init", "bold"),
        ("\nTo end: Ctrl-C", ""),
    )
    return Panel(text, title="interlock", title_align="left", expand=False, padding=(1, 2))


def sandbox_lines(page: str, token: str, api: str, gateway: str) -> str:
    """Show what a bot needs to connect to a sandbox, as a shell reads it, and the page."""
    return (
        f"Page: {page}\n\nTo start the bot on it:\n"
        f"INTERLOCK_DISCORD__TOKEN={token} \\\n"
        f"  interlock run --discord-api {api} \\\n"
        f"  --discord-gateway {gateway}\n\nTo end: Ctrl-C"
    )


def _value(settings: Settings, key: str) -> str:
    """Write the value at *key* as a person would, or *** when its name says that it is a secret."""
    at: object = settings
    rest = key
    while rest:
        if isinstance(at, BaseModel):
            name = rest.partition(".")[0]
            at = getattr(at, name)
        else:
            # Keys of a cog's table are whatever TOML allows, dots included.
            table = cast("Mapping[str, object]", hide_named(at))
            name = rest if rest in table else rest.partition(".")[0]
            at = table[name]
        rest = rest[len(name) + 1 :]
    return redact(_plain(at))


def _plain(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, cast("tuple[object, ...]", value))) or "(none)"
    if isinstance(value, float):
        return duration_text(value)  # every float of ours is a duration in seconds
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, SecretStr):
        return HIDDEN
    return "(none)" if value is None or value == "" else str(value)
