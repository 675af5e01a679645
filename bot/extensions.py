"""Extensions: where they are found, how they fail in one line, and which of their cogs respond."""

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from discord.ext import commands

from bot.errors import ConfigInvalid, ExtensionFailed, ResponderInvalid, StartupFailed
from bot.responders import Responder

AnyBot = commands.Bot | commands.AutoShardedBot


async def load(bot: AnyBot, names: Iterable[str], paths: Iterable[str]) -> None:
    """Load extensions in order, found in *paths* too; raise a `StartupFailed` for the first bad."""
    add_paths(paths)
    for name in names:
        with _told_in_a_line(name):
            await bot.load_extension(name)


async def reload(bot: AnyBot, name: str) -> None:
    """
    Load an extension anew; raise a `StartupFailed` with its line otherwise.

    discord.py then puts the old one back, unless the new one ended as a program does.
    """
    with _told_in_a_line(name):
        await (bot.reload_extension if name in bot.extensions else bot.load_extension)(name)


@contextmanager
def _told_in_a_line(name: str) -> Iterator[None]:
    """Turn whatever keeps an extension from loading into a `StartupFailed`."""
    try:
        yield
    except StartupFailed:
        raise
    except commands.ExtensionFailed as error:
        if isinstance(error.original, StartupFailed):
            raise error.original from None
        raise ExtensionFailed(_failure(name, error.original)) from error
    except SystemExit as error:  # a module that is a program of its own
        raise ExtensionFailed(_failure(name, error)) from None
    except (commands.ExtensionError, ModuleNotFoundError) as error:
        raise ExtensionFailed(_failure(name, error)) from None


def add_paths(paths: Iterable[str]) -> None:
    """Let modules be imported from these folders."""
    for path in paths:
        if (folder := str(Path(path).resolve())) not in sys.path:
            sys.path.insert(0, folder)


def _failure(name: str, error: BaseException) -> str:
    """Put into one line why an extension does not load, and what would be right."""
    if isinstance(error, commands.ExtensionNotFound) or _is_missing(name, error):
        return f"extensions: {name} is not found; is its folder in extension_paths?"
    if isinstance(error, commands.NoEntryPointError):
        return f'extensions: {name} has no "async def setup(bot)"'
    reason = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return f"extensions: {name} does not load: {reason}"


def _is_missing(name: str, error: BaseException) -> bool:
    """Whether *error* says that *name* or a package above it is missing, not what it imports."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def responder(cogs: Mapping[str, commands.Cog], name: str) -> Responder:
    """Find a responder by the name of its cog, or raise `ResponderInvalid`."""
    cog = cogs.get(name)
    if cog is None or not isinstance(cog, Responder):
        able = ", ".join(sorted(name for name, cog in cogs.items() if isinstance(cog, Responder)))
        wrong = "has no respond(turn)" if cog else "is not loaded"
        raise ResponderInvalid(f'the cog "{name}" {wrong}; responders: {able or "none"}')
    if not inspect.isasyncgenfunction(cog.respond):
        raise ResponderInvalid(
            f"{name}.respond is no async generator; write "
            f'"async def respond(self, turn)" with at least one "yield"'
        )
    return cog


def check_responders(cogs: Mapping[str, commands.Cog], named: Mapping[str, str]) -> None:
    """Look for the responders *named* by their settings; raise `ConfigInvalid` with a line each."""
    problems: list[str] = []
    for key, name in named.items():
        try:
            responder(cogs, name)
        except ResponderInvalid as error:
            problems.append(f"{key}: {error}")
    if problems:
        raise ConfigInvalid(problems)
