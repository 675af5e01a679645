"""Say in one line each what is wrong with a setting: its place, its key, what would be right."""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bot.redaction import is_secret_name, redact

#: Longest value that a line repeats, in characters; what is cut is nobody's typing error.
_SHOWN = 60

#: Where pydantic says that the name of a key is wrong, not its value.
_IN_A_NAME = "[key]"


def dotted(path: Sequence[str | int]) -> str:
    """Join the parts of a key as people write them."""
    return ".".join(str(part) for part in path)


def origin(key: str, origins: Mapping[str, str]) -> str:
    """Find where *key* came from; when it is missing, where its neighbours did."""
    parts = key.split(".")
    for length in range(len(parts), 0, -1):
        at = ".".join(parts[:length])
        if found := origins.get(at):
            return found
        if within := [name for other, name in origins.items() if other.startswith(f"{at}.")]:
            return within[0]
    return "settings"


def line(where: str, key: str, text: str) -> str:
    """Make the line, with whatever looks like a secret taken out."""
    return redact(f"{where}: {key}: {text}")


def explain(
    error: ValidationError,
    model: type[BaseModel],
    origins: Mapping[str, str],
    place: Sequence[str] = (),
    only: Collection[str] | None = None,
) -> list[str]:
    """
    Turn what pydantic found in *model*, whose keys stand below *place*, into lines.

    With *only*, leave out what it found at other keys than these.
    """
    lines: list[str] = []
    for detail in error.errors():
        if only is not None and detail["loc"] and detail["loc"][0] not in only:
            continue
        path = (*place, *_real_keys(detail["loc"], model))
        key = dotted(path)
        unknown = detail["type"] == "extra_forbidden"
        text = _unknown(path, model, place) if unknown else _wrong(detail, path)
        lines.append(line(origin(key, origins), key, text))
    return lines


def leaves(model: type[BaseModel], place: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """List every key of *model*, tables entered."""
    for name, field in model.model_fields.items():
        table = _table(field.annotation)
        if table is None:
            yield (*place, name)
        else:
            yield from leaves(table, (*place, name))


def _table(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _named_table(annotation: object) -> type[BaseModel] | None:
    """Answer the model of tables that stand below names of their own, such as ids."""
    return _table(get_args(annotation)[1]) if get_origin(annotation) is Mapping else None


def _real_keys(location: tuple[str | int, ...], model: type[BaseModel]) -> tuple[str, ...]:
    """Drop what pydantic adds after a key of ours: the index of an item, the arm of a union."""
    keys: list[str] = []
    at: type[BaseModel] | None = model
    named: type[BaseModel] | None = None
    for part in location:
        if (at is None and named is None) or part == _IN_A_NAME:
            break
        keys.append(str(part))
        at, named = _step(at, named, str(part))
    return tuple(keys)


def _step(
    at: type[BaseModel] | None, named: type[BaseModel] | None, key: str
) -> tuple[type[BaseModel] | None, type[BaseModel] | None]:
    """Go from a table, or from the names of several, one *key* further down."""
    if named is not None:
        return named, None
    field = at.model_fields.get(key) if at is not None else None
    return (_table(field.annotation), _named_table(field.annotation)) if field else (None, None)


def nearest(name: str, known: Sequence[str], prefix: str = "") -> str:
    """Offer the known name that *name* was probably meant to be, else all of them."""
    if near := difflib.get_close_matches(name, known, n=1):
        return f"did you mean {prefix}{near[0]}?"
    return f"known here: {', '.join(sorted(known))}"


def _unknown(path: Sequence[str], model: type[BaseModel], place: Sequence[str]) -> str:
    known = [(*place, *key) for key in leaves(model)]
    here = tuple(path[:-1])
    siblings = _keys_below(model, here[len(place) :])
    elsewhere = [key for key in known if key[-1] == path[-1]]
    if elsewhere:
        return f"no such setting; did you mean {dotted(elsewhere[0])}?"
    return f"no such setting; {nearest(path[-1], siblings, prefix=dotted((*here, '')))}"


def _keys_below(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    at: type[BaseModel] | None = model
    named: type[BaseModel] | None = None
    for key in path:
        at, named = _step(at, named, key)
    return list(at.model_fields) if at is not None else []


def _wrong(detail: ErrorDetails, path: Sequence[str]) -> str:
    """Say what is wrong with a value, then what would be right."""
    if detail["type"] == "value_error":
        return str(detail.get("ctx", {}).get("error", ""))
    shown = "this value" if is_secret_name(path[-1]) else _show(detail["input"])
    phrase = _PHRASES.get(detail["type"])
    return phrase(shown, detail.get("ctx", {})) if phrase else f"{shown}: {detail['msg']}"


def _show(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _whole(shown: str, _: Mapping[str, object]) -> str:
    return f"{shown} is no whole number; write digits only"


def _switch(shown: str, _: Mapping[str, object]) -> str:
    return f"{shown} is neither; write true or false"


def _text(shown: str, _: Mapping[str, object]) -> str:
    return f"{shown} is no text; write it in quotes"


def _list(shown: str, _: Mapping[str, object]) -> str:
    return f'{shown} is no list; write one, such as ["a", "b"]'


def _tables(shown: str, _: Mapping[str, object]) -> str:
    return f"{shown} is no table; write its keys below a line in brackets, such as [state]"


#: By pydantic's type of error: how to say it, from the value and the error's context.
_PHRASES: Mapping[str, Callable[[str, Mapping[str, object]], str]] = {
    "int_type": _whole,
    "int_parsing": _whole,
    "int_from_float": _whole,
    "int_parsing_size": _whole,
    "bool_type": _switch,
    "bool_parsing": _switch,
    "string_type": _text,
    "tuple_type": _list,
    "list_type": _list,
    "model_type": _tables,
    "mapping_type": _tables,
    "dict_type": _tables,
    "literal_error": lambda shown, ctx: f"{shown} is not one of them; write {ctx['expected']}",
    "greater_than_equal": lambda shown, ctx: f"{shown} is too small; the least is {ctx['ge']}",
    "less_than_equal": lambda shown, ctx: f"{shown} is too large; the most is {ctx['le']}",
    "greater_than": lambda shown, ctx: f"{shown} is too small; write more than {ctx['gt']}",
    "less_than": lambda shown, ctx: f"{shown} is too large; write less than {ctx['lt']}",
    "string_pattern_mismatch": lambda shown, ctx: f"{shown} does not match {ctx['pattern']}",
    "missing": lambda _, __: "is missing; the cog needs it",
}
