"""Serve the REST side of Discord's API, version 10, to the bot."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from math import ceil
from typing import Any, ClassVar

from aiohttp import web
from simcord.backend.models import Interaction

from sandbox.calls import Answer, Call, refusal
from sandbox.faults import Faults, Trouble
from sandbox.feed import Feed
from sandbox.interactions import Interactions
from sandbox.limits import Buckets
from sandbox.log import Entry, RequestLog
from sandbox.rules import carry_out
from sandbox.views import message_view
from sandbox.wire import PREFIX, Malformed, read_call, response
from sandbox.world import World

Watcher = Callable[[Call, web.Response], None]
"""Takes a request and its answer, on the loop and before the answer leaves."""


class Rest:
    """
    Answer the bot: faults first, then its token, then limits, then Discord's rules.

    Each of `watchers` is told every answer of every sandbox in this process, so that tests can hold
    them to Discord's own schema.
    """

    watchers: ClassVar[list[Watcher]] = []

    def __init__(
        self,
        world: World,
        *,
        token: str,
        gateway: Callable[[], dict[str, Any]],
        buckets: Buckets,
        faults: Faults,
        interactions: Interactions,
        feed: Feed,
        log: RequestLog,
    ) -> None:
        self._world = world
        self._token = token
        self._gateway = gateway
        self._buckets = buckets
        self._faults = faults
        self._interactions = interactions
        self._feed = feed
        self._log = log
        self._under_way: set[asyncio.Task[web.Response]] = set()

    async def respond(self, request: web.Request) -> web.Response:
        """Answer one request, in a task of its own: its client may be gone before it is done."""
        task = asyncio.create_task(self._respond(request))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await task

    async def close(self) -> None:
        """Let nothing be held up any longer, and wait for what is under way."""
        self._faults.clear()
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def _respond(self, request: web.Request) -> web.Response:
        arrived, started = time.time(), time.monotonic()
        path = request.path.removeprefix(PREFIX)
        trouble = self._faults.strike(request.method, path)
        try:
            call = await read_call(request)
        except Malformed:
            call = Call(request.method, path)
            answer = refusal(400, 50109, "The request body contains invalid JSON.")
        else:
            if trouble.latency:
                await self._faults.hold_up(trouble.latency)
            answer = _in_trouble(trouble) or self._answer(request, call)
        entry = Entry(
            seq=self._log.number(),
            time=arrived,
            monotonic=started,
            seconds=time.monotonic() - started,
            method=call.method,
            path=path,
            status=answer.status,
            body=_loggable(call),
            lost=trouble.lost,
        )
        self._log.add(entry)
        if trouble.lost and request.transport is not None:
            request.transport.abort()
        given = response(answer)
        for watch in self.watchers:
            watch(call, given)
        return given

    def _answer(self, request: web.Request, call: Call) -> Answer:
        match call.parts:
            case ["interactions", _, token, *_] | ["webhooks", _, token, *_]:
                # These carry a token of their own.
                return self._limited(call, lambda: self._interact(token, call))
            case ["gateway"]:
                return Answer(200, {"url": self._gateway()["url"]})
            case _ if request.headers.get("Authorization") != f"Bot {self._token}":
                return refusal(401, 0, "401: Unauthorized")
            case _:
                return self._limited(call, lambda: self._carry_out(call))

    def _limited(self, call: Call, carried_out: Callable[[], Answer]) -> Answer:
        verdict = self._buckets.take(call.method, call.path)
        if verdict.retry_after is not None:
            scope = "global" if verdict.everything else "user"
            return limited(verdict.retry_after, scope, verdict.headers)
        return replace(carried_out(), headers=verdict.headers)

    def _carry_out(self, call: Call) -> Answer:
        if call.parts == ["gateway", "bot"]:
            return Answer(200, self._gateway())
        answer = carry_out(self._world, call)
        if answer.status == HTTPStatus.OK:
            self._tell_page(call)
        return answer

    def _tell_page(self, call: Call) -> None:
        """Tell the page of what the gateway does not mention."""
        match call.method, call.parts:
            case "PUT", ["applications", *_, "commands"]:
                self._feed.publish("commands")
            case "POST", ["users", "@me", "channels"]:
                self._feed.publish("world")
            case _:
                pass

    def _interact(self, token: str, call: Call) -> Answer:
        """
        Carry out a request on an interaction, and tell the page of ephemeral messages.

        The gateway never mentions those, so they are found by comparing before and after.
        """
        before = self._ephemeral(self._interactions.find_by_token(token))
        answer = carry_out(self._world, call)
        record = self._interactions.touched(token)
        if record is None:
            return answer
        after = self._ephemeral(record)
        for message_id, edited in after.items():
            if message_id not in before or before[message_id] != edited:
                self._feed.publish(
                    "ephemeral",
                    channel_id=str(record.channel_id),
                    user_id=str(record.user_id),
                    message=message_view(self._world, self._world.find_message(message_id)),
                )
        for message_id in before.keys() - after.keys():
            self._feed.publish(
                "message_delete", channel_id=str(record.channel_id), id=str(message_id)
            )
        return answer

    def _ephemeral(self, record: Interaction | None) -> dict[int, str | None]:
        if record is None:
            return {}
        kept = self._world.discord.messages.get(record.channel_id, {})
        ids = (record.message_id or 0, *record.followup_ids)
        return {
            one: kept[one].edited_timestamp for one in ids if one in kept and kept[one].is_ephemeral
        }


def limited(
    retry_after: float,
    scope: str,
    headers: dict[str, str] | None = None,
    *,
    code: int = 0,
    message: str | None = None,
) -> Answer:
    """Answer a 429 as Discord does; `scope` is `user`, `global` or `shared`."""
    everything = scope == "global"
    body = {
        "code": code,
        "message": message or "You are being rate limited.",
        "retry_after": round(retry_after, 3),
        "global": everything,
    }
    shown = {"Retry-After": str(ceil(retry_after)), "X-RateLimit-Scope": scope}
    return Answer(429, body, {**(headers or {}), **shown})


def _in_trouble(trouble: Trouble) -> Answer | None:
    """Answer in Discord's place; None when the request is to be carried out."""
    if trouble.lose_request:
        return refusal(503, 0, "The request was lost on its way.")
    fault = trouble.answer
    if fault is None:
        return None
    if fault.retry_after is not None:
        scope = "global" if fault.everything else "shared"
        return limited(fault.retry_after, scope, code=fault.code, message=fault.message)
    status = fault.status or 500
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Error"
    return refusal(status, fault.code, fault.message or f"{status}: {phrase}")


def _loggable(call: Call) -> Any:  # noqa: ANN401 - any JSON
    if not call.files:
        return call.body
    return {**(call.body or {}), "files": [upload.filename for upload in call.files]}
