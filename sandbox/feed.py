"""Tell every open page what happens, as server-sent events."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
        self._published = {
            "MESSAGE_CREATE": self._message,
            "MESSAGE_UPDATE": self._message,
            "MESSAGE_DELETE": self._deleted,
            "MESSAGE_DELETE_BULK": self._deleted,
            "MESSAGE_REACTION_ADD": self._reactions,
            "MESSAGE_REACTION_REMOVE": self._reactions,
            "MESSAGE_REACTION_REMOVE_ALL": self._reactions,
            "MESSAGE_REACTION_REMOVE_EMOJI": self._reactions,
            "TYPING_START": self._typing,
            "CHANNEL_CREATE": self._channel,
            "CHANNEL_UPDATE": self._channel,
            "CHANNEL_DELETE": self._channel_gone,
            "THREAD_CREATE": self._channel,
            "THREAD_UPDATE": self._channel,
            "THREAD_DELETE": self._channel_gone,
            "GUILD_CREATE": self._world_changed,
            "GUILD_MEMBER_ADD": self._world_changed,
        }
        world.listeners.append(self._on_event)

    def publish(self, kind: str, **fields: object) -> None:
        """Send one event to every page."""
        if not self._pages:
            return
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
        publish = self._published.get(event)
        if publish is not None and self._pages:
            publish(event, payload)

    def _message(self, event: str, payload: dict[str, Any]) -> None:
        kept = self._world.discord.messages[int(payload["channel_id"])]
        message = message_view(self._world, kept[int(payload["id"])])
        self.publish(event.lower(), message=message)

    def _deleted(self, event: str, payload: dict[str, Any]) -> None:
        for one in payload.get("ids") or [payload["id"]]:
            self.publish("message_delete", channel_id=payload["channel_id"], id=one)

    def _typing(self, event: str, payload: dict[str, Any]) -> None:
        self.publish("typing", channel_id=payload["channel_id"], user_id=payload["user_id"])

    def _channel(self, event: str, payload: dict[str, Any]) -> None:
        kind = "channel_create" if event.endswith("CREATE") else "channel_update"
        channel = self._world.discord.channels[int(payload["id"])]
        self.publish(kind, channel=channel_view(channel))

    def _channel_gone(self, event: str, payload: dict[str, Any]) -> None:
        self.publish("channel_delete", id=payload["id"], guild_id=payload["guild_id"])

    def _reactions(self, event: str, payload: dict[str, Any]) -> None:
        channel_id, message_id = payload["channel_id"], payload["message_id"]
        message = self._world.discord.get_message(int(channel_id), int(message_id))
        self.publish(
            "reactions",
            channel_id=channel_id,
            message_id=message_id,
            reactions=reaction_views(message),
        )

    def _world_changed(self, event: str, payload: dict[str, Any]) -> None:
        self.publish("world")
