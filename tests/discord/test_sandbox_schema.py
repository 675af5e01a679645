"""The sandbox's answers are held to Discord's own schema."""

import json
from typing import Any

import pytest
from aiohttp import web

from sandbox import Sandbox
from sandbox.calls import Call
from tests.discord.schema.allowed import ALLOWED
from tests.discord.schema.check import Fault, document, faults, route_of
from tests.discord.schema.reduce import REDUCED, reduce, written
from tests.discord.schema.tour import BEYOND, tour
from tests.discord.schema.watch import Answers, watched

USER = {
    "id": "100000000000000001",
    "username": "ada",
    "discriminator": "0",
    "global_name": None,
    "avatar": None,
    "flags": 0,
    "public_flags": 0,
    "primary_guild": None,
}


async def toured() -> tuple[Sandbox, Answers]:
    """Make the tour; answer where, and what was answered."""
    with watched() as answers:
        async with Sandbox() as sandbox:
            await tour(sandbox)
    return sandbox, answers


async def test_every_answer_on_a_tour_over_the_routes_fits_the_schema() -> None:
    """But for what is allowed for, with its reason; and each allowance is still needed."""
    _, answers = await toured()
    assert answers.unexpected() == []
    found = answers.faults()
    unneeded = [one for one in ALLOWED if not any(one.covers(fault) for fault in found)]
    assert unneeded == []
    assert len(ALLOWED) == 1, "each further allowance is a difference from Discord"


async def test_the_tour_visits_every_route_with_success_but_those_left_out_by_name() -> None:
    """So what the schema has on a route was held against a real answer at least once."""
    sandbox, _ = await toured()
    visited = {
        f"{entry.method} {route_of(entry.method, entry.path)}"
        for entry in sandbox.log.since()
        if entry.status < 300
    }
    described = {
        f"{method.upper()} {path}"
        for path, methods in document()["paths"].items()
        for method in methods
        if not path.startswith(BEYOND)
    }
    assert described - visited == set()
    idle = [one for one in BEYOND if not any(path.startswith(one) for path in document()["paths"])]
    assert idle == []


@pytest.mark.parametrize(
    ("change", "place", "why"),
    [
        ({"username": None}, "username", "None is not of type 'string'"),
        ({"id": "one"}, "id", "does not match"),
        ({"public_flags": "0"}, "public_flags", "is not of type 'integer'"),
    ],
)
def test_a_wrong_answer_is_told_with_its_place(
    change: dict[str, Any], place: str, why: str
) -> None:
    """The route is named as the schema names it, so that one entry speaks for all ids."""
    assert faults("GET", f"/users/{USER['id']}", 200, USER) == []
    [fault] = faults("GET", f"/users/{USER['id']}", 200, {**USER, **change})
    assert (fault.answer, fault.place) == ("GET /users/{user_id} 200", place)
    assert why in fault.why


@pytest.mark.parametrize(
    ("method", "path", "status", "body", "why"),
    [
        ("GET", "/no/such/route", 404, None, "not in the schema"),
        ("POST", "/users/@me/channels", 201, {}, "only 200, 429, 4XX are declared"),
        ("POST", "/channels/1/typing", 204, {}, "a body, where none is declared"),
        ("GET", "/users/1", 404, {"message": "404: Not Found"}, "'code' is a required property"),
        ("GET", "/users/1", 429, {"message": "", "code": 0, "global": False}, "'retry_after'"),
    ],
)
def test_a_route_a_status_and_an_error_are_held_to_the_schema_too(
    method: str, path: str, status: int, body: object, why: str
) -> None:
    """Nothing passes because it is not described."""
    assert any(why in fault.why for fault in faults(method, path, status, body))


def test_server_errors_are_no_matter_of_the_schema() -> None:
    """It declares none, and what stands before Discord answers them in its own way."""
    assert faults("GET", "/users/@me", 502, "<html>") == []


def test_what_is_allowed_for_is_one_place_of_one_answer() -> None:
    """The same fault elsewhere is unexpected."""
    entry = ALLOWED[0]
    assert entry.covers(Fault(entry.answer, entry.place, "whatever"))
    assert not entry.covers(Fault(entry.answer, "elsewhere", "whatever"))
    assert not entry.covers(Fault("GET /gateway 200", entry.place, "whatever"))


def test_an_answer_that_is_not_discords_is_noticed_where_it_goes_out() -> None:
    """What the fixture of every test asserts on is not empty then."""
    answers = Answers()
    answers.note(Call("GET", "/users/@me"), web.Response(body=json.dumps({"id": "1"}).encode()))
    assert answers.unexpected()


def test_the_reduced_schema_is_as_its_script_writes_it() -> None:
    """It is never edited by hand: reduced again it stays the same, byte for byte."""
    text = REDUCED.read_text()
    assert written(reduce(json.loads(text))) == text
    assert document()["info"]["license"]["identifier"] == "MIT"


def test_reducing_keeps_what_served_routes_answer_and_drops_the_rest() -> None:
    """Requests, prose and components that nobody names are gone; a field named like prose stays."""
    answer = {
        "description": "prose",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Gateway"}}},
    }
    gateway = {
        "description": "prose",
        "properties": {"description": {"type": "string"}, "inner": {"$ref": _INNER}},
    }
    full = {
        "openapi": "3.1.0",
        "info": {"title": "Discord"},
        "paths": {
            "/gateway": {"get": {"operationId": "get_gateway", "responses": {"200": answer}}},
            "/lobbies": {"post": {"responses": {"200": answer}}},
        },
        "components": {
            "schemas": {"Gateway": gateway, "Inner": {"type": "string"}, "Lobby": {}},
            "responses": {},
        },
    }
    reduced = reduce(full)
    assert list(reduced["paths"]) == ["/gateway"]
    assert list(reduced["paths"]["/gateway"]["get"]) == ["responses"]
    assert set(reduced["components"]["schemas"]) == {"Gateway", "Inner"}
    kept = reduced["components"]["schemas"]["Gateway"]
    assert kept == {"properties": gateway["properties"]}


_INNER = "#/components/schemas/Inner"
