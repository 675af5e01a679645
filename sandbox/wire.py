"""Read a request of the bot off the wire, and write Discord's answer."""

import json
from io import BytesIO
from typing import Any

from aiohttp import BodyPartReader, web

from sandbox.calls import Answer, Call, Upload

PREFIX = "/api/v10"
"""Where the API's version ends and its paths begin."""

VIA = "1.1 sandbox"
"""discord.py takes a 429 without `Via` for a ban by the network in front of Discord, and raises."""


class Malformed(Exception):
    """Raised when a body is not JSON, or no form of a JSON part and files."""


async def read_call(request: web.Request) -> Call:
    """Read path, query and body. The path stays percent-encoded, as an emoji in it must."""
    try:
        body, files = await _read_body(request)
    except ValueError as error:  # no JSON, no UTF-8, no boundary between parts
        raise Malformed(str(error)) from error
    return Call(
        method=request.method,
        path=request.rel_url.raw_path.removeprefix(PREFIX),
        query=dict(request.query),
        body=body,
        files=tuple(files),
        reason=request.headers.get("X-Audit-Log-Reason"),
    )


async def _read_body(request: web.Request) -> tuple[Any, list[Upload]]:
    if request.content_type.startswith("multipart/"):
        return await _read_form(request)
    text = await request.text() if request.can_read_body else ""
    return (json.loads(text) if text else None), []


async def _read_form(request: web.Request) -> tuple[Any, list[Upload]]:
    fields: dict[str, str] = {}
    parts: list[tuple[str, str, bytes]] = []
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader) or part.name is None:
            raise Malformed("a part without a name")
        if part.filename is None:
            fields[part.name] = await part.text()
        else:
            parts.append((part.name, part.filename, bytes(await part.read())))
    body = json.loads(fields["payload_json"]) if "payload_json" in fields else dict(fields)
    described = body.get("attachments") if isinstance(body, dict) else None
    texts = {
        f"files[{one.get('id')}]": one.get("description")
        for one in described or []
        if isinstance(one, dict)
    }
    return body, [Upload(file, BytesIO(data), texts.get(name)) for name, file, data in parts]


def response(answer: Answer) -> web.Response:
    """
    Write an answer.

    The content type is bare, because discord.py reads anything but exactly `application/json`
    as text.
    """
    headers = {"Via": VIA, **answer.headers}
    if answer.status == 204:  # noqa: PLR2004 - No Content
        return web.Response(status=204, headers=headers)
    return web.Response(
        status=answer.status,
        headers=headers,
        body=json.dumps(answer.body).encode(),
        content_type="application/json",
    )
