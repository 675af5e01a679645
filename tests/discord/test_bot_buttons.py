"""The buttons under replies: who may press them, and what is left of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from bot import texts
from bot.endings import Ending
from sandbox import Sandbox
from tests.discord.bots import Room, running
from tests.waiting import wait_until


def buttons(room: Room) -> Iterator[tuple[int, str]]:
    """The buttons in a room, as (message id, custom id)."""
    for message in room.world.messages(room.id):
        for row in message.components or []:
            for component in row.get("components", []):
                yield message.id, component["custom_id"]


async def press(room: Room, person: str, message: int, custom_id: str) -> Any:  # noqa: ANN401
    """Press a button as somebody; what they are told."""
    record = room.sandbox.interactions.press(
        channel_id=room.id,
        user_id=room.world.person(person).id,
        message_id=message,
        custom_id=custom_id,
        values=[],
    )
    return (await room.sandbox.interactions.outcome(record))["content"]


async def streaming(room: Room, person: str = "Bo") -> tuple[int, str]:
    """Let somebody ask for a long reply; its Stop button."""
    room.say(person, "count to 1000 slowly")
    [button] = await wait_until(lambda: list(buttons(room)), description="a button")
    return button


async def test_the_stop_button_stops_as_the_word_does(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reply is marked, and the button is gone."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        message, custom_id = await streaming(room)

        assert await press(room, "Bo", message, custom_id) == texts.here().stopped_by_button

        await room.until_replies(texts.here().mark(Ending.STOPPED))
        assert list(buttons(room)) == []


async def test_the_stop_button_refuses_strangers_and_obeys_moderators(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sees a button can press it; rights are checked at the press."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        message, custom_id = await streaming(room)

        assert await press(room, "Cy", message, custom_id) == texts.here().not_yours
        assert await press(room, "Ada", message, custom_id) == texts.here().stopped_by_button

        await room.until_replies(texts.here().mark(Ending.STOPPED))


async def test_a_finished_reply_has_no_button(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that ends with the text that was shown already."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Bo", "count to 2 slowly")

        await room.until_replies("1 2")
        await wait_until(lambda: not list(buttons(room)), description="no button")


async def test_a_failed_reply_can_be_tried_again_by_its_author(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Strangers are refused; the same turn runs again, at the end of the line.

    It is the same turn under the same nonce, so its reply takes the place of the failed one.
    """
    async with running(sandbox, monkeypatch) as bot:
        room = Room(sandbox)
        room.say("Bo", "fail")
        [failed] = await room.until_replies(texts.here().mark(Ending.FAILED))
        [(message, custom_id)] = list(buttons(room))
        await wait_until(lambda: not len(bot.locks), description="it is set aside")

        assert await press(room, "Cy", message, custom_id) == texts.here().not_yours

        def edits() -> int:
            return len(room.requests("PATCH", f"/messages/{message}"))

        before = edits()
        assert await press(room, "Bo", message, custom_id) == texts.here().trying_again

        await wait_until(lambda: edits() > before, description="it is written anew")
        await room.until_replies(failed)
        assert len(list(buttons(room))) == 1
