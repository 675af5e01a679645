"""
Read the settings: defaults, under a TOML file, under `.env` and environment, under flags.

All problems are found at once and raised as one `ConfigInvalid`, a line each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from bot import texts
from bot.config import sources
from bot.config.conversation import ConversationSettings, Override, Place
from bot.config.files import Stamp, path_problems, read_token, stamps
from bot.config.problems import explain, leaves, line, nearest, origin
from bot.config.settings import NAMING_TABLES, Settings
from bot.errors import ConfigInvalid

__all__ = [
    "DEFAULT_FILE",
    "ConversationSettings",
    "Loaded",
    "Override",
    "Place",
    "Settings",
    "language_problem",
    "load",
]

#: Read from the working directory when no file is named; it need not be there.
DEFAULT_FILE = Path("interlock.toml")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, for each dotted key the place that decided it, and where all of it is from."""

    settings: Settings
    origins: Mapping[str, str]
    #: The TOML file that was read; None: there is none.
    file: Path | None
    #: The files that were looked for, in the state they were in before they were read.
    files: Mapping[Path, Stamp | None]
    #: Read everything from the same places again; raise `ConfigInvalid` as the first time.
    again: Callable[[], "Loaded"]

    @classmethod
    def made(cls, settings: Settings) -> Self:
        """Wrap settings that stand nowhere but in memory."""
        return cls(settings, {}, None, {}, lambda: cls.made(settings))


def load(
    path: Path | None,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    *,
    dotenv: Path | None = None,
) -> Loaded:
    """
    Read, merge and check everything; raise `ConfigInvalid` with a line for each problem.

    *path* must exist when it is given; None stands for `interlock.toml`, if there is one. *flags*
    are by dotted key. *dotenv* is a file of variables that *environ* overrides.
    """
    again = partial(load, path, flags, environ, dotenv=dotenv)
    files = stamps([path or DEFAULT_FILE, *([dotenv] if dotenv is not None else [])])
    layers: list[sources.Layer] = []
    file = path or (DEFAULT_FILE if DEFAULT_FILE.is_file() else None)
    if file is not None:
        layers.append(sources.toml(file, str(file)))
    in_file, _ = sources.merge(layers)
    if dotenv is not None:
        layers.append(sources.dotenv(dotenv))
    layers += [sources.environment(environ), sources.flags(flags)]
    tree, origins = sources.merge(layers)

    problems: list[str] = []
    if sources.look_up(in_file, "discord", "token") is not None:
        problems.append(line(layers[0].name(()), "discord.token", _NOT_HERE))
    problems += _token_from_file(tree, origins)
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        raise ConfigInvalid([*problems, *explain(error, Settings, origins)]) from None
    problems += _beyond_types(settings, origins)
    if problems:
        raise ConfigInvalid(problems)
    settings.remember_origins(origins)
    every = {".".join(key): "default" for key in leaves(Settings) if key[0] not in NAMING_TABLES}
    return Loaded(settings, every | origins, file, files, again)


_NOT_HERE = (
    "a token does not belong into a file that is shared; set INTERLOCK_DISCORD__TOKEN"
    " (`interlock init` writes it into .env) or name a file by discord.token_file"
)


def _token_from_file(tree: sources.Tree, origins: dict[str, str]) -> Iterator[str]:
    """Put the token of `discord.token_file` into *tree*, unless the environment has one."""
    path = sources.look_up(tree, "discord", "token_file")
    if not isinstance(path, str) or sources.look_up(tree, "discord", "token") is not None:
        return
    token, problem = read_token(Path(path))
    if token is None:
        yield line(origin("discord.token_file", origins), "discord.token_file", problem)
        return
    sources.put(tree, ("discord", "token"), token)
    origins["discord.token"] = f"discord.token_file {path}"


def _beyond_types(settings: Settings, origins: Mapping[str, str]) -> Iterator[str]:
    """Check what needs more than one key, or the disk."""
    for problem in path_problems(settings.extension_paths):
        yield line(origin("extension_paths", origins), "extension_paths", problem)
    yield from _no_such_language(settings, origins)
    yield from _not_to_be_said(settings, origins)
    yield from _no_such_cog(settings, settings.cogs, "cogs.", origins)
    for place, override in settings.overrides():
        yield from _no_such_cog(settings, override.cogs, ".".join((*place, "cogs.")), origins)


def language_problem(settings: Settings, language: str) -> str | None:
    """Say what is wrong with a language that there are no texts in; None: nothing."""
    if language in settings.languages:
        return None
    return f'there are no texts in "{language}"; {nearest(language, settings.languages)}'


def _no_such_language(settings: Settings, origins: Mapping[str, str]) -> Iterator[str]:
    asked = {"conversation.language": settings.conversation.language} | {
        ".".join((*place, "language")): override.language
        for place, override in settings.overrides()
        if "language" in override.model_fields_set
    }
    for key, language in asked.items():
        if (problem := language_problem(settings, language)) is not None:
            yield line(origin(key, origins), key, problem)


def _not_to_be_said(settings: Settings, origins: Mapping[str, str]) -> Iterator[str]:
    """Check the operator's own words."""
    for language, own in settings.texts.items():
        for name, text in own.items():
            key = f"texts.{language}.{name}"
            if name not in texts.NAMES:
                problem: str | None = (
                    f"unknown key; {nearest(name, texts.NAMES, prefix=f'texts.{language}.')}"
                )
            else:
                problem = texts.complaint(name, text)
            if problem is not None:
                yield line(origin(key, origins), key, problem)


def _no_such_cog(
    settings: Settings, tables: Iterable[str], prefix: str, origins: Mapping[str, str]
) -> Iterator[str]:
    names = [extension.rpartition(".")[2] for extension in settings.extensions]
    for name in tables:
        if name not in names:
            key = f"{prefix}{name}"
            hint = nearest(name, names, prefix=prefix)
            yield line(origin(key, origins), key, f"no extension is called {name}; {hint}")
