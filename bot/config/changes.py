"""Which settings differ from others, and which of those a running process cannot follow."""

from collections.abc import Iterator, Mapping
from typing import cast

from pydantic import BaseModel

from bot.config.settings import NAMING_TABLES, Settings

#: Keys, and tables as a whole, that are looked at once, when a process starts.
FIXED = (
    "extensions",
    "extension_paths",
    "extension_reload",
    "discord",
    "state",
    "sandbox",
    "log.format",
    "log.message_text",
)


def changed(before: Settings, after: Settings) -> list[str]:
    """List the dotted keys whose values differ."""
    old, new = dict(_values(before)), dict(_values(after))
    absent = object()
    keys = dict.fromkeys([*old, *new])
    return [key for key in keys if old.get(key, absent) != new.get(key, absent)]


def is_fixed(key: str) -> bool:
    """Whether a change of *key* waits for the next start."""
    return any(key == fixed or key.startswith(f"{fixed}.") for fixed in FIXED)


def followed(before: Settings, after: Settings) -> Settings:
    """Answer *after*, but with the values of *before* for what is fixed while a process runs."""
    update: dict[str, object] = {}
    for fixed in FIXED:
        table, _, key = fixed.partition(".")
        value: object = getattr(before, table)
        if key:
            now = cast("BaseModel", update.get(table, getattr(after, table)))
            value = now.model_copy(update={key: getattr(value, key)})
        update[table] = value
    return after.model_copy(update=update)


def _values(settings: Settings) -> Iterator[tuple[str, object]]:
    """List every value by its dotted key; of what is named freely, those that were written."""
    naming: set[str] = set(NAMING_TABLES)
    yield from _leaves(settings.model_dump(exclude=naming))
    yield from _leaves(settings.model_dump(include=naming, exclude_unset=True))


def _leaves(tree: Mapping[str, object], place: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(cast("Mapping[str, object]", value), f"{place}{name}.")
        else:
            yield f"{place}{name}", value
