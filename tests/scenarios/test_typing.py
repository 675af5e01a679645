"""The typing indicator: soon, for as long as somebody works, and never after the last word."""

import asyncio
from collections.abc import AsyncGenerator
from itertools import pairwise

import pytest

from bot import Turn
from sandbox import Sandbox
from sandbox.limits import DISCORD, Buckets
from tests.scenarios.scene import ADA, BO, Room, Scene
from tests.scenarios.script import LLM

#: Seconds for which Discord shows one typing request.
SHOWN = 10.0

TYPING = "POST /channels/*/typing"


def last_write(room: Room) -> float:
    """When the last request began that put text into the room."""
    sent = room.requests("POST", f"/{room.id}/messages")
    edits = [
        entry
        for entry in room.sandbox.log.since(0)
        if entry.method == "PATCH" and f"/{room.id}/messages/" in entry.path
    ]
    return max(entry.monotonic for entry in [*sent, *edits])


@pytest.mark.parametrize("says", ["", " \n", "\u200b"])
async def test_B48_a_silent_turn_ends_its_typing(scene: Scene, room: Room, says: str) -> None:
    """A turn without text left the indicator on for ever."""
    async with scene.bot() as bot:
        room.says(ADA, "@q1", LLM(says, after=12))
        await scene.until(lambda: room.typed, "typing is shown")
        await scene.settles(bot)
        over = scene.now
        await scene.passes(30)
    assert len(room.typed) == 2
    assert max(room.typed) < over + 1
    assert room.replies() == []


async def test_B49_typing_ends_with_the_reply(scene: Scene, room: Room) -> None:
    """It was kept alive for two minutes after the last word."""

    async def three_chunks(turn: Turn) -> AsyncGenerator[str, None]:
        for chunk in ("one ", "two ", "three"):
            await asyncio.sleep(6)
            yield chunk

    async with scene.bot():
        room.says(ADA, "@q1", three_chunks)
        await room.streams("two")
        scene.fails("PATCH /channels/*/messages/*", latency=12)  # nor while it is on its way
        await room.shows("one two three")
        await scene.passes(30)
    assert len(room.typed) > 1
    assert max(room.typed) <= last_write(room)


async def test_B51_typing_comes_back_after_an_outage(scene: Scene, room: Room) -> None:
    """After a minute of server errors it was never shown again."""
    async with scene.bot():
        scene.fails(TYPING, status=500)
        room.says(ADA, "@q1", LLM(60))
        await room.shows("q1:…end", within=90)
        scene.heals()
        before = len(room.typed)
        room.says(BO, "@q2", LLM(5))
        await room.shows("q1:…end", "q2:…end")
    assert before >= 1
    assert len(room.typed) > before


async def test_B52_typing_is_shown_at_once_and_not_after_the_reply(
    scene: Scene, room: Room
) -> None:
    """It began twelve seconds late, and was sent once more when the reply was there."""
    async with scene.bot():
        asked = scene.now
        room.says(ADA, "@q1", LLM(3))
        await room.shows("q1:…end")
        await scene.passes(30)
    assert room.typed[0] - asked < 1
    assert max(room.typed) < last_write(room)


async def test_B53_a_rate_limit_ends_no_typing_and_it_is_never_gone_meanwhile(
    scene: Scene, room: Room
) -> None:
    """The loop died on its first 429; repaired, it came every 12 s for what lasts 10."""
    async with scene.bot():
        scene.fails(TYPING, times=1, retry_after=3)
        room.says(ADA, "@q1", LLM(40))
        await room.shows("q1:…end")
    shown = room.typed[1:]  # the first was refused
    assert len(shown) >= 4
    assert all(later - earlier < SHOWN for earlier, later in pairwise(shown))


async def test_B55_typing_in_many_rooms_at_once_meets_no_limit_and_delays_no_reply(
    scene: Scene,
) -> None:
    """One route was rate-limited again and again, and replies waited behind it."""
    scene.sandbox._requests._buckets = Buckets(DISCORD)
    rooms = [scene.room(f"room-{number}") for number in range(20)]
    async with scene.bot():
        scene.fails(TYPING, latency=5)  # as slow as it may be: a reply does not wait for it
        began = scene.now
        for room in rooms:
            room.says(ADA, "@q1", LLM("all", after=2))
        for room in rooms:
            await room.shows("all", within=5)
        assert scene.now - began < 5
        scene.heals()
    assert limited(scene.sandbox) == []


def limited(sandbox: Sandbox) -> list[str]:
    """The typing requests that met a rate limit."""
    return [
        entry.path
        for entry in sandbox.log.since(0)
        if entry.path.endswith("/typing") and entry.status == 429
    ]
