"""
Reduce Discord's OpenAPI file to the answers of the routes that the sandbox serves.

    python -m tests.discord.schema.reduce PATH/TO/openapi.json

writes `discord.json` beside this module. The full file is `specs/openapi.json` of
https://github.com/discord/discord-api-spec, taken at commit 74fda0fad0 of 18 July 2026, which
Discord publishes under the MIT licence; the reduced one names that licence in its `info`. What
requests look like is left out, and so are headers and descriptions.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Not public, as little as the backend is; simcord is pinned for both.
from simcord.http.router import _ROUTES

REDUCED = Path(__file__).parent / "discord.json"

_OWN = ("GET /gateway", "GET /gateway/bot", "GET /applications/@me")
"""What the sandbox serves beside simcord's routes."""

_PROSE = frozenset({"description", "headers"})

Json = dict[str, Any]


def reduce(full: Json) -> Json:
    """Keep the answers of the routes that are served, and the components that they name."""
    simcords = (
        f"{method} /{'/'.join(template)}"
        for method, routes in _ROUTES.items()
        for template, _ in routes
    )
    served = set(map(_shape, (*simcords, *_OWN)))
    paths: Json = {}
    for path, methods in full["paths"].items():
        for method, operation in methods.items():
            if _shape(f"{method.upper()} {path}") in served:
                answers = _without_prose(operation["responses"])
                paths.setdefault(path, {})[method] = {"responses": answers}
    components: Json = {}
    for kind, name in sorted(_needed(full, paths)):
        part = _without_prose(full["components"][kind][name])
        components.setdefault(kind, {})[name] = part
    kept = {key: full[key] for key in ("openapi", "info")}
    return {**kept, "paths": paths, "components": components}


def written(reduced: Json) -> str:
    """Write one route and one component a line, so that a newer file shows what has changed."""
    lines = json.dumps(reduced, indent=1, sort_keys=True).splitlines()
    # Deeper than this everything belongs to the line above.
    return _joined(lines, depth=3)


def _joined(lines: list[str], depth: int) -> str:
    whole: list[str] = []
    for line in lines:
        text = line.lstrip()
        closing = text[0] in "}]" and len(line) - len(text) == depth
        if len(line) - len(text) > depth or closing:
            whole[-1] += text
        else:
            whole.append(line)
    return "\n".join(whole) + "\n"


def _shape(path: str) -> str:
    """Forget what the parts of a path are called, which simcord decides for itself."""
    return re.sub(r"\{[^}]+\}", "{}", path)


def _needed(full: Json, paths: Json) -> set[tuple[str, str]]:
    needed: set[tuple[str, str]] = set()
    looked_at: list[Any] = [paths]
    while looked_at:
        for reference in _references(looked_at.pop()):
            _, _, kind, name = reference.split("/")
            if (kind, name) not in needed:
                needed.add((kind, name))
                looked_at.append(_without_prose(full["components"][kind][name]))
    return needed


def _references(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _without_prose(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {
            key: _named(inner) if key == "properties" else _without_prose(inner)
            for key, inner in value.items()
            if key not in _PROSE
        }
    if isinstance(value, list):
        return [_without_prose(inner) for inner in value]
    return value


def _named(properties: Json) -> Json:
    """Keep a field of an object whatever it is called, such as `description`."""
    return {name: _without_prose(schema) for name, schema in properties.items()}


if __name__ == "__main__":
    REDUCED.write_text(written(reduce(json.loads(Path(sys.argv[1]).read_text()))))
