"""Write a cog of somebody's own, its test beside it, and say which settings run it."""

import json
import keyword
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from bot.config import Settings
from bot.errors import StartupFailed

#: Names that the bot itself imports from the working directory.
_OURS = frozenset({"bot", "chaos", "benchmarks", "cogs", "sandbox", "state", "tests"})

_COG = '''\
"""{name}: a cog that answers."""

from collections.abc import AsyncGenerator

from discord.ext import commands

from bot import Turn


class {name}(commands.Cog):
    """Answers what it is asked."""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Yield the reply in pieces; people see it grow."""
        yield f"You said: {{turn.text}}. "
        yield await turn.step("work", work)


async def work(key: str) -> str:
    """Do what must not be done twice; *key* is the same when a crash makes it run again."""
    return f"Done as {{key}}."


async def setup(bot: commands.Bot) -> None:
    """Add the cog."""
    await bot.add_cog({name}())
'''

_TEST = '''\
"""What {name} answers, also when its process is killed."""

from pathlib import Path

import pytest

from bot.testing import converse

SETTINGS = {{"extension_paths": [str(Path(__file__).parent)]}}

pytestmark = pytest.mark.asyncio


async def test_{module}_answers() -> None:
    """As a channel would show it."""
    shown = await converse("{module}", "hello", settings=SETTINGS)
    assert shown.text.startswith("You said: hello. Done as ")


async def test_{module}_does_nothing_twice() -> None:
    """Killed with -9 when its step is on record, it goes on behind it."""
    shown = await converse("{module}", "hello", settings=SETTINGS, crash_after="work")
    assert shown.steps == ("work",)
    assert shown.text.count("Done") == 1
'''


@dataclass(frozen=True, slots=True)
class NewCog:
    """The names of a cog, and its two files."""

    module: str
    name: str
    cog: Path
    test: Path


def write(wanted: str, folder: Path) -> NewCog:
    """
    Write the cog that somebody calls *wanted* and its test into *folder*, made if need be.

    Nothing is written over: raise `StartupFailed` then, and for a name that cannot be imported.
    """
    module = _module(wanted)
    name = "".join(part.capitalize() for part in module.split("_"))
    new = NewCog(module, name, folder / f"{module}.py", folder / f"test_{module}.py")
    for path in (new.cog, new.test):
        if path.exists():
            raise StartupFailed(f"{path} is there already; choose another name or --path")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in ((new.cog, _COG), (new.test, _TEST)):
            path.write_text(text.format(name=name, module=module), encoding="utf-8")
    except OSError as error:
        raise StartupFailed(f"{folder} cannot be written: {error.strerror}") from None
    return new


def _module(wanted: str) -> str:
    """Name the module: WeatherReport, weather-report and weather_report are one."""
    module = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", wanted).replace("-", "_").lower()
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", module) or keyword.iskeyword(module):
        raise StartupFailed(f'"{wanted}" is no name for a cog; use words such as weather_report')
    if module in _OURS or module in sys.stdlib_module_names:
        whose = "the bot" if module in _OURS else "Python"
        raise StartupFailed(f"{module} is a module of {whose}; choose another name")
    return module


def told(new: NewCog, settings: Settings, file: Path) -> str:
    """Say what was written, the lines that *file* needs, and how to try it."""
    folder = new.cog.parent.as_posix()
    extensions = _with(settings.extensions, new.module)
    paths = _with(settings.extension_paths, folder)
    return (
        f"Written: {new.cog} and {new.test}\n\n"
        f"In {file}, to run it from the next start on:\n\n"
        f"extensions = {json.dumps(extensions)}\n"
        f"extension_paths = {json.dumps(paths)}\n\n"
        f'[conversation]\nresponder = "{new.name}"\n\n'
        f"To try it: {_python()} -m pytest {new.test}"
    )


def _python() -> str:
    """Name the Python that runs this, as it has to be typed here: its venv need not be active."""
    if shutil.which("python") == sys.executable:
        return "python"
    ours, here = Path(sys.executable), Path.cwd()
    return str(ours.relative_to(here) if ours.is_relative_to(here) else ours)


def _with(known: tuple[str, ...], one: str) -> list[str]:
    return [*known, *([] if one in known else [one])]
