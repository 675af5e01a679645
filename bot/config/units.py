"""
Read the values that people write in a settings file.

Each reader takes what TOML, an environment variable or a flag can hold and raises ValueError with
*what is wrong; what would be right*: the second half of a line that `problems` begins.
"""

import json
import re
from collections.abc import Sequence
from typing import Annotated, cast

from pydantic import BeforeValidator, Secret
from pydantic_settings import NoDecode

from bot.redaction import redact

#: Seconds in each unit that a duration may carry.
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*")
_SNOWFLAKE = re.compile(r"\d{1,20}")
_STORE = re.compile(r"sqlite:.+|memory:|(?:rediss?(?:\+cluster)?|unix)://.+")
_SHARDS = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6}))?")
#: Highest shard count that is taken. Discord names no limit; this only bounds what a typo costs.
MAX_SHARDS = 16384


def seconds(text: str) -> float:
    """Turn "15s", "2m" or "1.5h" into seconds; raise ValueError for any other text."""
    found = _DURATION.fullmatch(text)
    if found is None or found[2] not in _UNITS:
        raise ValueError(
            f'"{text}" is no duration; write a number and ms, s, m, h or d, such as "15s"'
        )
    return float(found[1]) * _UNITS[found[2]]


def duration_text(value: float) -> str:
    """Write *value* seconds in the largest unit that leaves a whole number."""
    for unit, size in reversed(_UNITS.items()):
        count = round(value / size, 6)
        if count >= 1 and count.is_integer():
            return f"{count:g}{unit}"
    return f"{value:g}s"


def duration(low: str, high: str) -> BeforeValidator:
    """
    Read seconds between two bounds, inclusive, given in the notation that people write.

    A number without a unit is refused, because no two people agree on what it counts.
    """

    def read(value: object) -> float:
        if not isinstance(value, str):
            # Not TypeError: pydantic turns only ValueError into a line.
            likely = _in_seconds(value, low, high)
            raise ValueError(f'{value!r} has no unit; write {low} to {high}, such as "{likely}"')  # noqa: TRY004
        length = seconds(value)
        if not seconds(low) <= length <= seconds(high):
            raise ValueError(f'"{value}" is out of bounds; give {low} to {high}')
        return length

    return BeforeValidator(read)


def _in_seconds(number: object, low: str, high: str) -> str:
    """Read a bare number as seconds, for an example; *low* when that cannot be meant."""
    if isinstance(number, (int, float)) and seconds(low) <= number <= seconds(high):
        return f"{number:g}s"
    return low


def _split(value: object) -> object:
    """Let an environment variable or a flag hold a list: JSON, or names with commas in between."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return cast("object", json.loads(value))
        except json.JSONDecodeError:
            raise ValueError(
                f'{value} is no list; write names with commas in between, or JSON: ["a", "b"]'
            ) from None
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _snowflake(value: object) -> str:
    id_ = str(value)
    if _SNOWFLAKE.fullmatch(id_) is None:
        raise ValueError(f'"{id_}" is no Discord id; an id has digits only')
    return id_


def _snowflakes(value: object) -> tuple[str, ...]:
    given = _split(value)
    if not isinstance(given, list | tuple):
        given = (given,)
    return tuple(map(_snowflake, cast("Sequence[object]", given)))


def _shard_ids(value: object) -> tuple[int, ...]:
    right = 'write "0-3", "0,2,5" or a list of ids'
    given = _split(value)
    if not isinstance(given, list | tuple):
        given = (given,)
    ids: set[int] = set()
    for part in cast("Sequence[object]", given):
        found = _SHARDS.fullmatch(str(part).strip())
        if found is None or int(found[2] or 0) > MAX_SHARDS:
            raise ValueError(f'"{part}" is no shard id or range; {right}')
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            raise ValueError(f'"{part}" ends before it begins; {right}')
        ids.update(range(first, last + 1))
    if not ids:
        raise ValueError(f"names no shard; {right}")
    return tuple(sorted(ids))


class StateUrl(Secret[str]):
    """The address of a store; printed and repr'd with *** for its password."""

    def _display(self) -> str:
        return redact(self.get_secret_value())


def _state_url(value: object) -> object:
    if isinstance(value, StateUrl) or (isinstance(value, str) and _STORE.fullmatch(value)):
        return value
    raise ValueError(
        f'"{value}" is no address of a store; write "sqlite:FILE", "memory:", "redis://…",'
        ' "rediss://…", "redis+cluster://…", "rediss+cluster://…" or "unix://…"'
    )


#: Ids of Discord, as strings however they were written: 64 bits are more than JSON keeps.
Id = Annotated[str, BeforeValidator(_snowflake)]
Ids = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_snowflakes)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
ShardIds = Annotated[tuple[int, ...], NoDecode, BeforeValidator(_shard_ids)]
StoreAddress = Annotated[StateUrl, BeforeValidator(_state_url)]
