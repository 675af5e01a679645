"""
A model provider on loopback that speaks OpenAI's streaming protocols and does as it is told.

Both are there, chat completions and responses, because "openai" means the one at another server
and the other at OpenAI itself. What it answers is set per request; it keeps what it was asked and
when the connection of each request was closed.
"""

import asyncio
import contextlib
import json
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

#: Seconds that a request may outlive its test before the stub gives it up.
GRACE = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """How to answer one request."""

    text: str = "All is well."
    #: Seconds before each piece of the text, a word and the space behind it.
    delay: float = 0.0
    #: Pieces after which nothing more comes, while the connection stays open; 0 is a mute provider.
    hang_after: int | None = None
    #: Pieces after which the connection breaks.
    break_after: int | None = None
    #: Anything but 200 is an error with *code* and *message*.
    status: int = 200
    code: str | None = None
    message: str = "no"


@dataclass(slots=True)
class Asked:
    """One request, and what became of it."""

    path: str
    body: dict[str, Any]
    authorization: str
    began: float = field(default_factory=time.monotonic)
    #: When it was answered to the end; None before that and when it never was. Monotonic.
    answered: float | None = None
    #: When the client closed the connection on us; None while it has not. Monotonic.
    hung_up: float | None = None
    #: Pieces sent so far.
    sent: int = 0

    @property
    def open(self) -> bool:
        """Whether it is still being answered."""
        return self.answered is None and self.hung_up is None

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The conversation as (role, text), whichever protocol it came by."""
        return [
            (message["role"], _text(message["content"]))
            for message in self.body.get("messages", self.body.get("input", []))
        ]


class OpenAIStub:
    """The server. `answers` are used up one by one; then `usually` answers the rest."""

    def __init__(self, usually: Answer | None = None) -> None:
        self.usually = usually or Answer()
        self.answers: deque[Answer] = deque()
        self.asked: list[Asked] = []
        self._runner: web.AppRunner | None = None
        self.url = ""

    @property
    def connections(self) -> int:
        """How many connections are open, those that wait for a next request included."""
        server = self._runner.server if self._runner else None
        return len(server.connections) if server else 0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["OpenAIStub"]:
        """Serve at `url` on a free port of this machine."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/responses", self._responses)
        # A handler is cancelled when its client hangs up: that is how we learn of it.
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=GRACE)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        try:
            yield self
        finally:
            await self._runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, _chat_events)

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, _responses_events)

    async def _serve(
        self, request: web.Request, events: "Callable[[list[str]], Iterator[_Event]]"
    ) -> web.StreamResponse:
        answer = self.answers.popleft() if self.answers else self.usually
        asked = Asked(request.path, await request.json(), request.headers.get("Authorization", ""))
        self.asked.append(asked)
        try:
            response = await _answer(request, asked, answer, events)
        except (asyncio.CancelledError, ConnectionResetError):
            asked.hung_up = time.monotonic()
            raise
        asked.answered = time.monotonic()
        return response


#: What to send, and whether it carries a piece of the text.
_Event = tuple[dict[str, Any], bool]


async def _answer(
    request: web.Request,
    asked: Asked,
    answer: Answer,
    events: Callable[[list[str]], Iterator[_Event]],
) -> web.StreamResponse:
    if answer.status != web.HTTPOk.status_code:
        error = {"message": answer.message, "type": None, "param": None, "code": answer.code}
        return web.json_response({"error": error}, status=answer.status)
    if answer.hang_after == 0:
        await asyncio.Event().wait()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event, is_piece in events(re.findall(r"\S+\s*", answer.text)):
        if is_piece:
            if asked.sent == answer.hang_after:
                await asyncio.Event().wait()
            if asked.sent == answer.break_after:
                assert request.transport is not None
                request.transport.abort()
                return response
            await asyncio.sleep(answer.delay)
            asked.sent += 1
        name = f"event: {event['type']}\n" if "type" in event else ""
        await response.write(f"{name}data: {json.dumps(event)}\n\n".encode())
    if request.path.endswith("completions"):
        await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def _chat_events(pieces: list[str]) -> Iterator[_Event]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": "stub",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    yield chunk({"role": "assistant", "content": ""}), False
    for piece in pieces:
        yield chunk({"content": piece}), True
    yield chunk({}, "stop"), False


def _responses_events(pieces: list[str]) -> Iterator[_Event]:
    response: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "stub",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    item: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant"}
    text = {"type": "output_text", "text": "".join(pieces), "annotations": []}
    done = {**item, "status": "completed", "content": [text]}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events: list[tuple[str, dict[str, Any]]] = [
        ("created", {"response": {**response, "status": "in_progress"}}),
        (
            "output_item.added",
            {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}},
        ),
        ("content_part.added", {**place, "part": {**text, "text": ""}}),
        *(("output_text.delta", {**place, "delta": piece, "logprobs": []}) for piece in pieces),
        ("output_text.done", {**place, "text": text["text"], "logprobs": []}),
        ("output_item.done", {"output_index": 0, "item": done}),
        ("completed", {"response": {**response, "status": "completed", "output": [done]}}),
    ]
    for number, (name, event) in enumerate(events):
        is_piece = name == "output_text.delta"
        yield {"type": f"response.{name}", "sequence_number": number, **event}, is_piece


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content)
