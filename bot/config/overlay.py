"""Lay a part of a cog's table over the whole, and check the result by the cog's own model."""

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from pydantic import BaseModel, ValidationError

from bot.config.problems import explain


def overlay(table: Mapping[str, object], part: Mapping[str, object]) -> Mapping[str, object]:
    """Answer *table* with the keys of *part* in place of its own; tables in both are merged."""
    merged = dict(table)
    for key, value in part.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = overlay(
                cast("Mapping[str, object]", below), cast("Mapping[str, object]", value)
            )
        else:
            merged[key] = value
    return merged


def complaints(
    model: type[BaseModel],
    table: Mapping[str, object],
    origins: Mapping[str, str],
    place: Sequence[str],
    only: Collection[str] | None = None,
) -> list[str]:
    """
    Say in a line each what *model* finds wrong with *table*, whose keys stand below *place*.

    Of a table that was laid together, only problems at the keys *only*, or with the whole, are of
    interest: the others are told where they stand.
    """
    try:
        model.model_validate(table, extra="forbid")
    except ValidationError as error:
        return explain(error, model, origins, place, only)
    return []
