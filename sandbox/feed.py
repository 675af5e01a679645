"""Tell every open page what happens, as server-sent events."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from simcord.backend.errors import BackendError

from sandbox.views import channel_view, message_view, reaction_views
from sandbox.world import World

BACKLOG = 1_000
"""Events that may wait for one page; a page that falls further behind is cut off and reloads."""

Waiting = asyncio.Queue[str | None]
"""Events for one page as JSON text; `None` ends the stream."""


class Feed:
    """
    Turn what happens in the world into the page's events.

    They are listed in `control`, which serves them.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._pages: set[Waiting] = set()
        world.listeners.append(self._on_event)

    def publish(self, kind: str, **fields: Any) -> None:
        """Send one event to every page."""
        text = json.dumps({"type": kind, **fields})
        for page in list(self._pages):
            try:
                page.put_nowait(text)
            except asyncio.QueueFull:
                self._cut_off(page)

    @contextmanager
    def subscribed(self) -> Iterator[Waiting]:
        """Receive events for as long as the context lasts, beginning with `hello`."""
        page: Waiting = asyncio.Queue(BACKLOG)
        page.put_nowait(json.dumps({"type": "hello"}))
        self._pages.add(page)
        try:
            yield page
        finally:
            self._pages.discard(page)

    def close(self) -> None:
        """End every stream."""
        for page in list(self._pages):
            self._cut_off(page)

    def _cut_off(self, page: Waiting) -> None:
        self._pages.discard(page)
        while not page.empty():
            page.get_nowait()
        page.put_nowait(None)

    def _on_event(self, event: str, payload: dict[str, Any]) -> None:
        if not self._pages:
            return
        channel = payload.get("channel_id")
        match event:
            case "MESSAGE_CREATE" | "MESSAGE_UPDATE":
                self._publish_message(event.lower(), payload)
            case "MESSAGE_DELETE":
                self.publish("message_delete", channel_id=channel, id=payload["id"])
            case "MESSAGE_DELETE_BULK":
                for one in payload["ids"]:
                    self.publish("message_delete", channel_id=channel, id=one)
            case "TYPING_START":
                self.publish("typing", channel_id=channel, user_id=payload["user_id"])
            case "CHANNEL_CREATE" | "THREAD_CREATE" | "CHANNEL_UPDATE" | "THREAD_UPDATE":
                self._publish_channel(event, payload)
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                self.publish("channel_delete", id=payload["id"], guild_id=payload["guild_id"])
            case "GUILD_CREATE" | "GUILD_MEMBER_ADD":
                self.publish("world")
            case _ if event.startswith("MESSAGE_REACTION_"):
                self._publish_reactions(payload)
            case _:
                pass

    def _publish_message(self, kind: str, payload: dict[str, Any]) -> None:
        kept = self._world.discord.messages[int(payload["channel_id"])]
        self.publish(kind, message=message_view(self._world, kept[int(payload["id"])]))

    def _publish_channel(self, event: str, payload: dict[str, Any]) -> None:
        kind = "channel_create" if event.endswith("CREATE") else "channel_update"
        channel = self._world.discord.channels[int(payload["id"])]
        self.publish(kind, channel=channel_view(channel))

    def _publish_reactions(self, payload: dict[str, Any]) -> None:
        channel_id, message_id = payload["channel_id"], payload["message_id"]
        try:
            message = self._world.discord.get_message(int(channel_id), int(message_id))
        except BackendError:
            return
        self.publish(
            "reactions",
            channel_id=channel_id,
            message_id=message_id,
            reactions=reaction_views(message),
        )
