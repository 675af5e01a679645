"""
Read each place that settings come from into a layer: what it says, and what to call it.

The layers are laid over each other by `merge`, which remembers for every key which one won.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from dotenv import dotenv_values
from pydantic_settings import EnvSettingsSource

from bot.config.problems import line
from bot.config.settings import NAMING_TABLES, Settings
from bot.errors import ConfigInvalid

Tree = dict[str, object]
Key = tuple[str, ...]

#: Settings that have a flag of their own. The command line is built from this.
FLAGS: Mapping[str, str] = {
    "discord.shards": "--shards",
    "discord.shard_count": "--shard-count",
    "discord.api": "--discord-api",
    "discord.gateway": "--discord-gateway",
    "state.url": "--state-url",
    "log.level": "--log-level",
    "sandbox.port": "--port",
}

_PREFIX = "INTERLOCK_"
#: A second name for the variable that most people set by hand, and often the only one.
_ALIASES: Mapping[str, str] = {"INTERLOCK_TOKEN": "INTERLOCK_DISCORD__TOKEN"}
#: What Kubernetes puts into every pod beside a service that is called "interlock".
_SERVICE_LINKS = re.compile(r"INTERLOCK_(?:SERVICE_(?:HOST|PORT(?:_.*)?)|PORT(?:_.*)?)")
_TOML_PLACE = re.compile(r"(?P<what>.*) \(at (?P<place>.*)\)", re.DOTALL)


def variable(key: str) -> str:
    """Name the environment variable of a dotted key."""
    return _PREFIX + key.upper().replace(".", "__")


@dataclass(frozen=True, slots=True)
class Layer:
    """What one place says, and the words for where a key of it stands."""

    tree: Tree
    name: Callable[[Key], str]


def toml(path: Path, label: str) -> Layer:
    """Read a TOML file; raise `ConfigInvalid` when it cannot be read or is no TOML."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        text = f"{label}: no such file; `interlock init` writes interlock.toml with every key"
        raise ConfigInvalid([text]) from None
    except OSError as error:
        raise ConfigInvalid([f"{label}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigInvalid([f"{label}: is not UTF-8 at byte {error.start}"]) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid([f"{label}: {_toml_error(str(error))}"]) from None
    return Layer(tree, lambda _: label)


def _toml_error(message: str) -> str:
    found = _TOML_PLACE.fullmatch(message)
    return f"{found['place']}: {found['what']}" if found else message


def dotenv(path: Path) -> Layer:
    """Read the INTERLOCK_ lines of a `.env` file; a file that is not there says nothing."""
    given = dotenv_values(path, interpolate=False) if path.is_file() else {}
    return environment({k: v for k, v in given.items() if v is not None}, where=path.name)


def environment(environ: Mapping[str, str], where: str = "environment") -> Layer:
    """
    Read the INTERLOCK_ variables, tables joined by two underscores.

    An empty variable counts as not set, because that is how compose files pass on what is missing.
    """
    names = _variables(environ)
    source = EnvSettingsSource(Settings)
    source.env_vars = {as_known.lower(): environ[name] for as_known, name in names.items()}
    tree: Tree = source()
    real: dict[Key, str] = {}
    for as_known, name in names.items():
        key = tuple(as_known.removeprefix(_PREFIX).lower().split("__"))
        real[key] = name
        if key[0] not in Settings.model_fields:
            # pydantic-settings overlooks these; put them in, so that they are refused by name.
            put(tree, key, environ[name])

    return Layer(tree, lambda key: f"{where} {_nearest(key, real)}")


def flags(given: Mapping[str, object]) -> Layer:
    """Take what flags say, by dotted key; None is a flag that was not given."""
    tree: Tree = {}
    for key, value in given.items():
        if value is not None:
            put(tree, tuple(key.split(".")), value)
    return Layer(tree, lambda key: f"flag {FLAGS.get('.'.join(key), '.'.join(key))}")


def merge(layers: Sequence[Layer]) -> tuple[Tree, dict[str, str]]:
    """Lay each layer over those before it; answer the tree and where each dotted key came from."""
    tree: Tree = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for key, value in _leaves(layer.tree):
            put(tree, key, value)
            origins[".".join(key)] = layer.name(key)
    return tree, origins


def look_up(tree: Mapping[str, object], *key: str) -> object:
    """Answer what stands at *key*, or None."""
    at: object = tree
    for part in key:
        at = cast("Mapping[str, object]", at).get(part) if isinstance(at, Mapping) else None
    return at


def _variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Map the known spelling of each variable of ours to its real name in *environ*."""
    names: dict[str, str] = {}
    problems: list[str] = []
    for name in sorted(filter(environ.get, environ)):
        spelled = name.upper()
        table = spelled.removeprefix(_PREFIX).lower()
        if not spelled.startswith(_PREFIX) or _SERVICE_LINKS.fullmatch(spelled):
            continue
        if spelled in _ALIASES:
            names.setdefault(_ALIASES[spelled], name)
        elif table in _TABLES:
            key = f"{spelled}__{_TABLES[table].upper()}"
            text = f"is a table; set its keys one by one, such as {key}"
            problems.append(line(f"environment {name}", table, text))
        else:
            names[spelled] = name
    if problems:
        raise ConfigInvalid(problems)
    return names


#: Each table, with one of its keys as an example.
_TABLES: Mapping[str, str] = {
    **dict.fromkeys(NAMING_TABLES, "1234__mode"),
    "cogs": "chat__model",
    "texts": "en__apology",
} | {
    name: next(iter(field.annotation.model_fields))
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and hasattr(field.annotation, "model_fields")
}


def _nearest(key: Key, real: Mapping[Key, str]) -> str:
    for length in range(len(key), 0, -1):
        if name := real.get(key[:length]):
            return name
    return _PREFIX + "__".join(key).upper()


def _leaves(tree: Mapping[str, object], place: Key = ()) -> Iterator[tuple[Key, object]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(cast("Tree", value), (*place, name))
        else:
            yield (*place, name), value


def put(tree: Tree, key: Key, value: object) -> None:
    """Set *value* at *key*; what stands in the way, a text where a table must be, gives way."""
    for part in key[:-1]:
        below = tree.get(part)
        if not isinstance(below, dict):
            below = tree[part] = {}
        tree = cast("Tree", below)
    tree[key[-1]] = value
