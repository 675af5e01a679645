"""Stop and kill: at once, for the turn that was meant, and with nothing left behind."""

import asyncio
import random
from collections.abc import AsyncGenerator

import pytest

from bot import Turn, texts
from tests.scenarios.scene import ADA, BO, CY, KILLED, STOPPED, Bot, Room, Scene
from tests.scenarios.script import LLM, Tools, mute
from tests.unit.fake_process import hurry, running, script
from tests.unit.fakes import message

MODES = ("queue", "collect", "debounce", "interrupt", "drop")


async def frees(scene: Scene, bot: Bot) -> None:
    """Wait until no turn runs, as long as a stop may take."""
    await scene.until(lambda: not bot.busy, "the conversation is free", within=2)


@pytest.mark.parametrize("mode", MODES)
async def test_B29_a_stop_is_never_fed_to_the_model(scene: Scene, room: Room, mode: str) -> None:
    """In some modes "stop" was queued, or steered into the run, as any other text."""
    async with scene.bot(mode=mode) as bot:
        room.says(ADA, "@q1", Tools(30))
        await scene.until(lambda: scene.play.asked, "it runs")
        await scene.passes(3)
        room.says(ADA, "stop")
        await frees(scene, bot)

        room.says(ADA, "@q2", Tools(30))
        await scene.until(lambda: len(scene.play.asked) == 2, "it runs")
        await scene.passes(3)
        answer = await room.uses(ADA, "/kill")
        assert answer["content"] == "Stopped your reply."
        await frees(scene, bot)
    assert scene.play.asked == ["q1", "q2"]


async def test_B30_a_kill_reaches_a_turn_that_waits_for_somebodys_approval(
    scene: Scene, room: Room
) -> None:
    """The bot said "stopped", and its run waited for an approval for five more minutes."""

    async def approval(key: str) -> str:
        await asyncio.Event().wait()
        return key

    async def asks(turn: Turn) -> AsyncGenerator[str, None]:
        yield "may I?"
        yield await turn.step("approval", approval)

    async with scene.bot() as bot:
        room.says(BO, "@q1", asks)
        await scene.until(lambda: room.buttons, "there is a button")
        await room.uses(ADA, "/kill")

        await frees(scene, bot)
        assert room.buttons == []
        assert room.replies()[0] == f"may I?{KILLED}"


async def test_B32_a_stop_ends_a_chain_of_tools_before_the_next_one(
    scene: Scene, room: Room
) -> None:
    """It took effect only when the last of seven tools had run."""
    tools = Tools(5, times=7)
    async with scene.bot() as bot:
        room.says(ADA, "@q1", tools)
        await scene.until(lambda: tools.begun == 2, "the second tool runs")
        room.says(ADA, "stop")
        await frees(scene, bot)
        await scene.passes(40)
    assert (tools.begun, tools.done) == (2, 1)


async def test_B33_a_stop_does_not_wait_for_quiet(scene: Scene, room: Room) -> None:
    """It waited in the debounce buffer, where the next word made it a text that is no stop."""
    async with scene.bot(mode="debounce") as bot:
        asked = room.says(ADA, "@q1")
        await scene.passes(0.2)
        stop = room.says(ADA, "stop")
        await room.marked(stop, texts.STOPPED, within=1)
        await scene.passes(0.5)
        room.says(ADA, "please")
        await scene.passes(10)

        assert not (await room.view(bot)).waiting
        assert room.marks(asked) == []
    assert scene.play.asked == []
    assert room.replies() == []


async def test_B35_a_stop_reaches_a_model_that_never_answers(scene: Scene, room: Room) -> None:
    """It queued behind the request to the model. The chat cog's own test watches the socket."""
    async with scene.bot() as bot:
        room.says(ADA, "@q1", mute)
        await scene.passes(5)
        room.says(BO, "@q2")
        room.says(ADA, "stop")

        await room.shows("q2: end", within=2)
        await frees(scene, bot)


async def test_B36_a_stop_leaves_what_others_have_queued(scene: Scene, room: Room) -> None:
    """It cleared the whole queue, without a word to those who waited there."""
    async with scene.bot():
        room.says(ADA, "@q1", LLM(30))
        await room.streams()
        room.says(BO, "@q2")
        room.says(ADA, "stop")

        await room.shows(f"q1:…{STOPPED}", "q2: end")


async def test_B38_nobody_stops_anothers_reply_without_the_right_to(
    scene: Scene, room: Room
) -> None:
    """Anyone in the channel could end somebody else's run."""
    async with scene.bot():
        room.says(BO, "@q1", LLM(30))
        await scene.passes(2)
        room.says(CY, "stop")
        room.says(ADA, "stop")  # a moderator who does not address the bot
        refused = await room.uses(CY, "/stop")
        nothing = await room.uses(CY, "/kill")
        assert refused["content"] == "That reply is Bo's; only they or a moderator may stop it."
        assert nothing["content"] == "Nothing of yours is running or waiting here."
        assert refused["ephemeral"]
        assert nothing["ephemeral"]
        await room.shows("q1:…end")

        room.says(BO, "@q2", LLM(30))
        await room.streams("q2")
        assert (await room.uses(ADA, "/kill"))["content"] == "Stopped Bo's reply."
        await room.shows("q1:…end", f"q2:…{KILLED}", "Stopped Bo's reply.")


async def test_B40_after_a_stop_the_next_question_is_answered_in_full(
    scene: Scene, room: Room
) -> None:
    """The lock outlived the abort, and whatever came later got an empty answer."""
    async with scene.bot():
        room.says(ADA, "@q1", LLM(30))
        await room.streams()
        room.says(ADA, "stop")
        await scene.passes(1)
        room.says(ADA, "@q2", LLM(5))

        await room.shows(f"q1:…{STOPPED}", "q2: 1 2 3 4 5 end")


async def test_B42_the_slow_clean_up_of_one_run_leaves_the_next_alone(
    scene: Scene, room: Room
) -> None:
    """It cleared the record of the newer run, which then could not be stopped any more."""
    over: list[str] = []

    async def slow_to_end(turn: Turn) -> AsyncGenerator[str, None]:
        try:
            async for word in LLM(30)(turn):
                yield word
        finally:
            await asyncio.shield(_later(5, over))

    async with scene.bot() as bot:
        room.says(ADA, "@q1", slow_to_end)
        await room.streams()
        room.says(ADA, "stop")
        await scene.until(lambda: not bot.busy, "the first is given up", within=3)
        room.says(BO, "@q2", LLM(30))
        await room.streams("q2")
        await scene.until(lambda: over, "the first has cleaned up")
        assert bot.busy == 1

        told = await room.uses(BO, "/stop")
        assert told["content"] == "Stopped your reply."
        await room.shows(f"q1:…{STOPPED}", f"q2:…{STOPPED}", told["content"])
        await frees(scene, bot)


async def _later(seconds: float, done: list[str]) -> None:
    await asyncio.sleep(seconds)
    done.append("cleaned up")


@pytest.mark.parametrize("once", [True, False])
async def test_B45_a_hundred_turns_cancelled_at_random_leave_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, once: bool
) -> None:
    """Whoever was cancelled from outside left its inner task behind, and its exception unheard."""
    hurry(monkeypatch)
    draw = random.Random(45)
    before = len(asyncio.all_tasks())
    cancelled: set[asyncio.Task[None]] = set()
    async with running(script("one ", "two ", "three")) as process:
        for number in range(100):
            await process.hears(message(channel=str(1_000 + number)))
            for _ in range(draw.randrange(30)):
                await asyncio.sleep(0)
            for task in process.conversations._tasks - (cancelled if once else set()):
                task.cancel()
                cancelled.add(task)
        await process.settles()
    assert len(asyncio.all_tasks()) == before
    assert "never retrieved" not in caplog.text


async def test_B47_a_kill_in_one_channel_touches_no_other(scene: Scene, room: Room) -> None:
    """It cancelled every task of the process, and with them everybody's reply."""
    elsewhere = scene.room("random")
    async with scene.bot():
        room.says(ADA, "@q1", LLM(30))
        elsewhere.says(BO, "@q2", LLM(10))
        await room.streams()
        await elsewhere.streams()
        await room.uses(ADA, "/kill")

        await room.shows(f"q1:…{KILLED}", "Stopped your reply.")
        await elsewhere.shows("q2:…end")
