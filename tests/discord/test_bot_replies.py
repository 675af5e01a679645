"""What a reply may hold beside text, over real sockets: embeds, files, statuses, buttons."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from simcord.backend.models import Message

from bot import texts
from bot.speaking import STATUS_SIGN
from sandbox import Sandbox
from sandbox.faults import Fault
from state import connect
from state.keys import Scope
from tests.discord.asking import Asking
from tests.discord.bots import Room, running
from tests.waiting import wait_until


def buttons(message: Message) -> Iterator[Any]:
    """The buttons under a message."""
    for row in message.components or []:
        yield from row.get("components", [])


def press(room: Room, person: str, message: Message, label: str) -> None:
    """Press the button of that label as somebody."""
    [custom_id] = [b["custom_id"] for b in buttons(message) if b["label"] == label]
    room.sandbox.interactions.press(
        channel_id=room.id,
        user_id=room.world.person(person).id,
        message_id=message.id,
        custom_id=custom_id,
        values=[],
    )


async def told(room: Room, person: str, text: str) -> None:
    """Wait until somebody is told something for their eyes only."""
    viewer = room.world.person(person).id

    def there() -> bool:
        seen = room.world.messages(room.id, viewer=viewer)
        return text in [message.content for message in seen if message.is_ephemeral]

    await wait_until(there, description=f"{person} is told: {text}")


async def asked(room: Room) -> Message:
    """Let Bo be asked by buttons; the message, once it is complete."""
    room.say("Bo", "ask me")

    def complete() -> Message | None:
        labels = [[b["label"] for b in buttons(message)] for message in room.own()]
        return room.own()[0] if labels == [["Heads", "Tails"]] else None

    message = await wait_until(complete, description="two buttons")
    assert message is not None
    return message


async def test_an_embed_is_shown_under_its_text_after_a_status(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status is seen while it is true; what follows the card is a message of its own."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Bo", "show a card")
        await wait_until(
            lambda: any(STATUS_SIGN in text for text in room.replies()), description="a status"
        )
        first, second = await room.until_replies("comes:", "a new message.")
        assert STATUS_SIGN not in first + second
        card, after = room.own()
        [embed] = card.embeds
        assert (embed["title"], embed["color"]) == ("A card", 0x5865F2)
        assert [field["name"] for field in embed["fields"]] == ["speakers", "waiting"]
        assert after.embeds == []


async def test_a_file_is_sent_once_under_its_text(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is uploaded by one request, whatever else is edited."""
    async with running(sandbox, monkeypatch) as bot:
        room = Room(sandbox)
        room.say("Bo", "send a file")
        await room.until_replies("Here is a file:")
        await wait_until(lambda: not len(bot.locks), description="the turn is over")
        [message] = room.own()
        [file] = message.attachments
        assert (file["filename"], file["description"]) == ("squares.csv", "the first ten squares")
        assert not list(buttons(message))


async def test_a_press_is_answered_by_whoever_offered_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is acknowledged without a word, and the payload comes back with its turn."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        press(room, "Bo", await asked(room), "Tails")
        await room.until_replies("Which one?", "Bo chose **Tails**: `{'side': 2}`")


async def test_a_press_that_cannot_be_acknowledged_is_answered_all_the_same(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Discord shows "failed" for a moment; the reply shows that it was heard."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        message = await asked(room)
        sandbox.faults.add(Fault("POST", "/interactions/*", status=404, code=10062))
        press(room, "Bo", message, "Heads")
        await room.until_replies("Which one?", "Bo chose **Heads**: `{'side': 1}`")


async def test_two_processes_that_hear_one_press_answer_it_once(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interaction's id is its dedupe key, as a message's is."""
    state = connect("memory:")
    await state.open()
    async with running(sandbox, monkeypatch, state), running(sandbox, monkeypatch, state) as two:
        room = Room(sandbox)
        message = await asked(room)
        press(room, "Bo", message, "Heads")
        await room.until_replies("Which one?", "Bo chose **Heads**: `{'side': 1}`")
        await wait_until(lambda: not len(two.locks), description="nothing runs")
        assert len(room.own()) == 2
    await state.close()


async def test_a_button_for_one_person_refuses_the_others(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are told so, for their eyes only; also moderators, who can stop but not answer."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        message = await asked(room)
        press(room, "Ada", message, "Heads")
        await told(room, "Ada", texts.here().only_its_author)
        assert room.replies() == ["Which one?"]


async def test_a_press_works_after_a_restart(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it means is in the store, not in a process."""
    url, room = f"sqlite:{tmp_path / 'bot.db'}", Room(sandbox)
    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state):
        message = await asked(room)
    await state.close()

    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state):
        press(room, "Bo", message, "Heads")
        await room.until_replies("Which one?", "Bo chose **Heads**: `{'side': 1}`")
    await state.close()


async def test_an_expired_button_says_so_and_becomes_grey(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Honestly, to the one who pressed; nobody else presses it in vain."""
    async with running(sandbox, monkeypatch) as bot:
        room = Room(sandbox)
        message = await asked(room)
        token = next(buttons(message))["custom_id"].split(":")[2]
        guild = f"guild/{room.world.guild.id}"
        await bot.state.delete(Scope(guild, conversation=str(room.id)), f"offer/{token}")

        press(room, "Bo", message, "Heads")
        await told(room, "Bo", texts.here().expired_button)

        assert [bool(b.get("disabled")) for b in buttons(room.own()[0])] == [True, False]
        assert room.replies() == ["Which one?"]


async def test_a_made_up_button_is_refused(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id in our form that was never offered here means nothing, whoever presses."""
    async with running(sandbox, monkeypatch) as bot:
        room = Room(sandbox)
        message = await asked(room)
        [row] = message.components
        row["components"][0]["custom_id"] = f"interlock:choose:{'x' * 22}:0"
        press(room, "Bo", message, "Heads")
        await told(room, "Bo", texts.here().expired_button)
        assert not len(bot.locks)
        assert room.replies() == ["Which one?"]


@pytest.mark.parametrize(
    ("ask", "right", "kind", "ending"),
    [
        ("show a card", "embed_links", "embeds", "a new message."),
        ("send a file", "attach_files", "files", ""),
    ],
)
async def test_without_the_right_a_piece_is_left_out_and_the_text_goes_on(
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    ask: str,
    right: str,
    kind: str,
    ending: str,
) -> None:
    """A small line says what is missing; the channel is not taken for one that refuses us."""
    async with running(sandbox, monkeypatch) as bot:
        room = Room(sandbox)
        room.world.change_channel(room.id, deny=[right])
        room.say("Bo", ask)
        await room.until_replies(texts.here().left_out[kind], *([ending] if ending else []))
        await wait_until(lambda: not len(bot.locks), description="the turn is over")
        assert not any(message.embeds or message.attachments for message in room.own())
        room.say("Bo", "count to 2")
        await wait_until(lambda: room.replies()[-1] == "1 2", description="the next answer")


@pytest.mark.parametrize("ask", ["show a card", "send a file", "ask me"])
async def test_the_response_to_a_command_carries_pieces_like_any_message(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    """They are put into the place of "thinking…" by the token of the command."""
    async with running(sandbox, monkeypatch) as bot:
        room = Asking(sandbox)
        room.ask("Bo", ask)
        await wait_until(
            lambda: any(room.replies()) and not len(bot.locks), description="the reply"
        )
        first = room.own()[0]
        carried = {"show a card": first.embeds, "send a file": first.attachments}
        assert len(carried.get(ask, [first.components])) == 1
        assert STATUS_SIGN not in first.content
        if ask == "ask me":
            press(room, "Bo", first, "Tails")
            await room.until_replies("Which one?", "Bo chose **Tails**: `{'side': 2}`")
