"""The queue: who waits, who is told, and what a message does while a reply is written."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from bot import Turn, texts
from tests.scenarios.scene import ADA, BO, CY, FAILED, SUPERSEDED, Room, Scene
from tests.scenarios.script import END, LLM, Tools, broken


async def test_B17_who_is_told_that_there_is_no_room_is_not_in_the_queue_and_nobody_else(
    scene: Scene, room: Room
) -> None:
    """People were told that their message was queued although the queue had refused it."""
    async with scene.bot(inbox=2) as bot:
        room.says(ADA, "@q1", LLM(30))
        await room.streams("q1")
        for person, text in ((BO, "@q2"), (CY, "@q3"), (BO, "@q4")):
            room.says(person, text)
            await scene.passes(1)

        await room.shows("q1:…", texts.here().inbox_full)
        waiting = [(await room.view(bot)).waiting]
        assert len(waiting[0]) == 2
        await room.shows("q1:…end", "q2: end", "q3: end")  # and the notice has gone
    assert "q4" not in scene.play.asked


async def test_B17_what_is_heard_while_draining_waits_and_is_answered_by_the_next_process(
    scene: Scene, room: Room
) -> None:
    """During a drain a message was acknowledged as queued and then lost with the process."""
    async with scene.bot() as bot:
        room.says(ADA, "@q1", LLM(10))
        await room.streams("q1")
        bot.client.end()
        await scene.passes(1)
        second = room.says(BO, "@q2")
        await room.marked(second, texts.WAITING)
        await scene.settles(bot)
        await room.shows("q1:…end")

    async with scene.bot():
        await room.shows("q1:…end", "q2: end")
        await room.marked(second)


async def test_B20_an_error_lets_the_next_in_the_queue_begin(scene: Scene, room: Room) -> None:
    """After a failed turn the queue was never looked at again: position 2 for ever."""
    async with scene.bot():
        room.says(ADA, "@q1", broken)
        room.says(BO, "@q2")

        await room.shows(f"q1:…{FAILED}", "q2: end")


async def test_B21_a_turn_that_waits_for_somebody_leaves_the_next_not_without_a_sign(
    scene: Scene, room: Room
) -> None:
    """While an approval was pending, a message was dropped without queue, notice or log line."""
    approved = asyncio.Event()

    async def asks(turn: Turn) -> AsyncGenerator[str, None]:
        yield f"{turn.text}: may I? "
        await approved.wait()
        yield END

    async with scene.bot():
        room.says(ADA, "@q1", asks)
        await room.streams("may I?")
        second = room.says(BO, "@q2")
        await room.marked(second, texts.WAITING, within=2)
        approved.set()
        await room.shows("q1:…end", "q2: end")
        await room.marked(second)


#: mode → what is on Discord in the end.
MODES = {
    "queue": ("q1: 1…40 end", "q2: end", "q3: end"),
    "collect": ("q1: 1…40 end", "q2\nq3: end"),
    "debounce": ("q1: 1…40 end", "q2\nq3: end"),
    "interrupt": (f"q1:…{SUPERSEDED}", "…q3: end"),
    "drop": ("q1: 1…40 end",),
}


@pytest.mark.parametrize("mode", MODES)
async def test_B22_each_mode_keeps_its_contract_for_a_message_during_a_reply(
    scene: Scene, room: Room, mode: str
) -> None:
    """In some modes a message that came during a reply was dropped without a word."""
    async with scene.bot(mode=mode) as bot:
        room.says(ADA, "@q1", LLM(40))
        await scene.passes(8)
        room.says(BO, "@q2")
        room.says(CY, "@q3")
        if mode == "drop":
            await room.shows("q1:…", texts.here().busy)

        await room.shows(*MODES[mode])
        await scene.settles(bot)
    heard = set("\n".join(scene.play.asked).split("\n"))
    assert heard == ({"q1"} if mode == "drop" else {"q1", "q2", "q3"})


async def test_B23_a_command_does_not_wait_behind_the_run(scene: Scene, room: Room) -> None:
    """To begin anew took ten minutes, for the command was queued like a message."""
    async with scene.bot() as bot:
        room.says(BO, "@before")
        await room.shows("before: end")
        room.says(ADA, "@q1", Tools(120))
        await scene.passes(3)
        began = scene.now
        answer = await room.uses(ADA, "/new")
        assert scene.now - began < 2
        assert "begins here" in answer["content"]

        history = await bot.client.state.history(room.conversation, limit=50)
        assert not history
        assert bot.busy == 1


@pytest.mark.parametrize("mode", ["queue", "interrupt"])
@pytest.mark.parametrize("asks", [ADA, BO])
async def test_B25_a_question_about_its_progress_does_not_throw_a_long_job_away(
    scene: Scene, room: Room, mode: str, asks: str
) -> None:
    """To ask how it was going killed two minutes of work, by default."""
    build = Tools(120)
    async with scene.bot(mode=mode):
        room.says(ADA, "@build", build)
        await scene.passes(30)
        room.says(asks, "@how is it going?")
        await scene.passes(100)

        assert build.done == 1
        await scene.until(
            lambda: any("how is it going?" in text for text in scene.play.asked), "it is heard"
        )
    assert build.begun == 1


async def test_B27_who_waits_sees_it_within_two_seconds_until_they_are_served(
    scene: Scene, room: Room
) -> None:
    """A queued message had no sign, so that the bot looked deaf."""
    async with scene.bot():
        room.says(ADA, "@q1", LLM(30))
        await scene.passes(1)
        second = room.says(BO, "@q2")

        await room.marked(second, texts.WAITING, within=2)
        await room.shows("q1:…end", "q2: end")
        await room.marked(second)


async def test_B28_the_halves_of_a_paste_are_one_question(scene: Scene, room: Room) -> None:
    """The client split a long text: its first half was answered alone and then interrupted."""
    halves = ["a" * 1_950, "b" * 700]
    async with scene.bot() as bot:
        for half in (f"@{halves[0]}", halves[1]):
            room.says(ADA, half, LLM("to both", after=2))
            await scene.passes(0.15)

        await room.shows("to both")
        await scene.settles(bot)
    assert scene.play.asked[-1].split("\n") == halves
