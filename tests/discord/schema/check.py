"""Hold an answer of the sandbox to Discord's own schema."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tests.discord.schema.reduce import REDUCED

_URI = "urn:discord"

_JSON = "application/json"

#: Characters of an explanation: jsonschema quotes the whole value.
WHY = 200


@dataclass(frozen=True, slots=True)
class Fault:
    """
    Say what Discord's schema has against an answer.

    `answer` is `METHOD /route STATUS`, `place` the path to the fault within the body, with `*` for
    the places in a list; empty when it concerns the whole.
    """

    answer: str
    place: str
    why: str


def faults(
    method: str,
    path: str,
    status: int,
    body: Any,  # noqa: ANN401 - any JSON
) -> list[Fault]:
    """
    Hold an answer to the schema.

    *path* begins after the API's version and is still percent-encoded; *body* is the JSON that was
    answered, None for none. Server errors are nothing that the schema describes.
    """
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return []
    route = route_of(method, path)
    if route is None:
        return [Fault(f"{method} {path} {status}", "", "the route is not in the schema")]
    declared = _responses(route, method)
    key = str(status) if str(status) in declared else f"{status // 100}XX"
    if key not in declared:
        return [Fault(f"{method} {route} {status}", "", f"only {', '.join(declared)} are declared")]
    answer = f"{method} {route} {status}"
    return [Fault(answer, place, why) for place, why in _against(route, method, key, body)]


def _against(
    route: str,
    method: str,
    key: str,
    body: Any,  # noqa: ANN401 - any JSON
) -> Iterator[tuple[str, str]]:
    validator = _validator(route, method, key)
    if validator is None:
        if body is not None:
            yield "", "a body, where none is declared"
        return
    for error in validator.iter_errors(body):
        inmost = _inmost(error)
        yield _place(inmost.absolute_path), inmost.message[:WHY]


def _inmost(error: ValidationError) -> ValidationError:
    """Find what is wrong in that of several forms which the value seems to be of."""
    while error.context:
        forms: dict[str | int, list[ValidationError]] = {}
        for inner in error.context:
            forms.setdefault(inner.schema_path[0], []).append(inner)
        meant = [found for found in forms.values() if not any(map(_is_another_form, found))]
        if not meant:
            break
        error = min(meant, key=len)[0]
    return error


def _is_another_form(error: ValidationError) -> bool:
    """Tell whether the value is not of this form at all, rather than a faulty one of it."""
    told_by = error.absolute_path[-1] if error.absolute_path else None
    return error.validator == "type" or (told_by == "type" and error.validator in ("const", "enum"))


def _place(path: Iterable[str | int]) -> str:
    """Name a place in a body, with `*` for each place in a list."""
    return "/".join("*" if isinstance(part, int) else part for part in path)


@cache
def document() -> Any:  # noqa: ANN401 - any JSON
    """Read the reduced schema."""
    return json.loads(REDUCED.read_text())


@cache
def _registry() -> Registry[Any]:
    resource = DRAFT202012.create_resource(document())
    known: Registry[Any] = Registry().with_resource(_URI, resource).crawl()
    return known


@cache
def _routes() -> tuple[tuple[re.Pattern[str], str], ...]:
    """List the routes, those with the fewest free parts first: `@me` comes before any id."""
    ordered = sorted(document()["paths"], key=lambda route: route.count("{"))
    return tuple((re.compile(re.sub(r"\{[^}]+\}", "[^/]+", route)), route) for route in ordered)


def route_of(method: str, path: str) -> str | None:
    """Find the route that a request falls under, with the names of its free parts."""
    for pattern, route in _routes():
        if pattern.fullmatch(path) and method.lower() in document()["paths"][route]:
            return route
    return None


def _responses(route: str, method: str) -> Mapping[str, Any]:
    declared: Mapping[str, Any] = document()["paths"][route][method.lower()]["responses"]
    return declared


@cache
def _validator(route: str, method: str, key: str) -> Draft202012Validator | None:
    response = _responses(route, method)[key]
    if "$ref" in response:
        place = response["$ref"].removeprefix("#/").split("/")
        response = document()[place[0]][place[1]][place[2]]
    else:
        place = ["paths", route.replace("/", "~1"), method.lower(), "responses", key]
    if _JSON not in response.get("content", {}):
        return None
    pointer = "/".join([*place, "content", _JSON.replace("/", "~1"), "schema"])
    return Draft202012Validator({"$ref": f"{_URI}#/{pointer}"}, registry=_registry())
