"""Read what is sent to the control API, and answer what is wrong with it in one line."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from sandbox.guard import Respond
from sandbox.places import NotPossible

Body = TypeVar("Body", bound=BaseModel)


def answer(body: Mapping[str, Any] | Sequence[Any]) -> web.Response:
    """Answer JSON."""
    return web.json_response(body)


@web.middleware
async def clear_refusals(request: web.Request, handler: Respond) -> web.StreamResponse:
    """Answer what is refused under /control with its status (400 by default) and one line."""
    if not request.path.startswith("/control"):
        return await handler(request)
    try:
        return await handler(request)
    except NotPossible as refusal:
        return web.json_response({"error": str(refusal)}, status=400)
    except web.HTTPException as refusal:
        return web.json_response({"error": refusal.text}, status=refusal.status)


async def read_json(request: web.Request) -> dict[str, Any]:
    """Read a body that must be one JSON object."""
    try:
        given = json.loads(await request.text())
    except ValueError as error:
        raise NotPossible(f"the body is no JSON: {error}") from error
    if not isinstance(given, dict):
        raise NotPossible("the body must be a JSON object")
    return given


async def read(request: web.Request, kind: type[Body]) -> Body:
    """Read a body of one kind."""
    return parse(kind, await read_json(request))


def parse(kind: type[Body], given: dict[str, Any]) -> Body:
    """Check an object against its kind; every fault goes into one line."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise NotPossible("; ".join(_line(dict(fault)) for fault in error.errors())) from error


def _line(fault: dict[str, Any]) -> str:
    place = ".".join(map(str, fault["loc"]))
    text = str(fault["msg"]).removeprefix("Value error, ")
    return f"{place}: {text}" if place else text


def number(text: str, name: str) -> int:
    """Read a whole number out of a path or query."""
    if not (text.isascii() and text.isdecimal()):
        raise NotPossible(f"{name} must be a number, not {text!r}")
    return int(text)


def queried(request: web.Request, name: str) -> int | None:
    """Read an optional number out of the query."""
    text = request.query.get(name)
    return None if text is None else number(text, name)


def path_id(request: web.Request) -> int:
    """Read the id in the path."""
    return number(request.match_info["id"], "the id")
