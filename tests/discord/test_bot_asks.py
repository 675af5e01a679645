"""Commands that ask for a turn: deferred at once, answered in the place of "thinking…"."""

from typing import Any

import pytest

from sandbox import Sandbox
from tests.discord.bots import Room, running


def ask(room: Room, person: str, question: str) -> Any:  # noqa: ANN401 (of the sandbox)
    """Use /ask."""
    who = room.world.person(person).id
    return room.sandbox.interactions.use(room.id, who, "ask", {"question": question})


async def test_an_answer_takes_the_place_of_thinking(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message: the response."""
    async with running(sandbox, monkeypatch, conversation={"responder": "Echo"}):
        room = Room(sandbox)
        asked = ask(room, "Ada", "a b c")
        await room.until_replies("a b c")
        assert sandbox.interactions.view(asked)["message_id"] == str(room.own()[0].id)
