"""Loss and restart: the gateway, the process and the store go away, and nobody is forgotten."""

import asyncio
import re
import threading
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
import redis.asyncio

from bot import Turn, texts
from bot.config import Settings
from bot.endings import END_WITHIN, Ending
from bot.errors import StartupFailed, TokenRefused
from bot.gateway import STARTS_KEPT
from bot.testing.store import Trouble
from sandbox.starts import A_DAY
from state import connect
from tests.discord.bots import ROOT
from tests.scenarios.scene import ADA, BO, CY, EXTENSIONS, Room, Scene
from tests.scenarios.script import LLM, Tools
from tests.unit.fake_process import Script, hurry, running
from tests.unit.fakes import message
from tests.waiting import wait_until

#: Seconds that a lock lives without being renewed, by default, and until it is looked at again.
LEASE, SWEEP = 15.0, 1.0


async def test_B69_what_was_said_while_the_gateway_was_away_is_answered_once(
    scene: Scene, room: Room
) -> None:
    """The socket dropped every ten minutes; what was said in the next half minute was lost."""
    async with scene.bot():
        scene.sandbox.connections.refuse(30)
        await scene.passes(10)
        room.says(ADA, "@q1")
        await scene.passes(19)
        assert room.replies() == []

        await room.shows("q1: end", within=180)  # it has tried more and more seldom
        await scene.passes(10)
    assert scene.play.asked == ["q1"]
    assert (scene.sandbox.connections.resumes, scene.sandbox.connections.identifies) == (1, 1)


async def test_B69_after_a_longer_absence_another_session_begins_and_catches_up(
    scene: Scene,
) -> None:
    """A session that Discord keeps no longer must not be asked for for ever."""
    direct = scene.direct(BO)
    async with scene.bot() as bot:
        direct.says(BO, "before")
        await direct.shows("before: end")
        await scene.settles(bot)
        scene.sandbox.connections.refuse(400)
        await scene.passes(10)
        direct.says(BO, "q1")
        await scene.passes(390)

        await direct.shows("before: end", "q1: end", within=260)
    assert (scene.sandbox.connections.resumes, scene.sandbox.connections.identifies) == (0, 2)


async def test_B70_direct_messages_of_a_downtime_are_answered_after_it(scene: Scene) -> None:
    """What was written during a restart was lost: a new process cannot resume an old session."""
    direct = scene.direct(BO)
    async with scene.bot() as bot:
        direct.says(BO, "before")
        await direct.shows("before: end")
        await scene.settles(bot)
    await scene.passes(30)
    direct.says(BO, "q1")
    await scene.passes(60)
    direct.says(BO, "q2")

    async with scene.bot():
        await direct.shows("before: end", "q1\nq2: end")


async def test_B71_what_is_said_between_the_start_and_ready_is_answered(
    scene: Scene, room: Room
) -> None:
    """For twenty seconds the process was up and heard nothing, and nobody ever knew."""
    direct, elsewhere, connections = (
        scene.direct(BO),
        scene.room("random"),
        scene.sandbox.connections,
    )
    async with scene.bot(follow_mode="queue") as bot:
        await room.uses(ADA, "/follow")
        direct.says(BO, "before")
        await direct.shows("before: end")
        await scene.settles(bot)
    answers = room.replies()

    scene.line.up.clear()
    dialled = scene.line.dialled

    async def says_before_ready() -> None:
        await wait_until(lambda: scene.line.dialled > dialled, description="the bot is up")
        direct.says(BO, "q1")
        room.says(CY, "q2")
        scene.line.up.set()
        before = connections.identifies
        await wait_until(lambda: connections.identifies > before, description="it is let in")
        elsewhere.says(ADA, "@q3")

    saying = asyncio.create_task(says_before_ready())
    async with scene.bot():
        await saying
        await direct.shows("before: end", "q1: end")
        await room.shows(*answers, "q2: end")
        await elsewhere.shows("q3: end")


@pytest.mark.parametrize("the_socket", ["stays", "closes"])
@pytest.mark.parametrize("refusals", [1, 10_000])
async def test_B74_a_message_whose_write_failed_is_not_passed_over(
    scene: Scene, refusals: int, the_socket: str
) -> None:
    """The next message was written and acknowledged, and the one before it never came again."""
    direct = scene.direct(BO)
    async with scene.bot() as bot:
        direct.says(BO, "before")
        await direct.shows("before: end")
        await scene.settles(bot)
        left = refusals

        def refuses(_number: int, name: str) -> Trouble | None:
            nonlocal left
            left -= name == "admit"
            return Trouble.REFUSED if name == "admit" and left >= 0 else None

        bot.store.plan = refuses
        tenth = direct.says(BO, "q10")
        if refusals > 1:
            await scene.until(lambda: _given_up(scene) == {str(tenth)}, "it is given up")
        left = 0
        await scene.passes(1)
        direct.says(BO, "q11")
        await scene.until(lambda: "q11" in _asked(scene), "the next is answered")
        if the_socket == "closes":
            await scene.begins_anew(bot)

        await scene.until(lambda: "q10" in _asked(scene), "the first is answered")
        await scene.settles(bot)
    assert sorted(_asked(scene)) == ["before", "q10", "q11"]


def _asked(scene: Scene) -> list[str]:
    return "\n".join(scene.play.asked).split("\n")


def _given_up(scene: Scene) -> set[str]:
    return {line["inbound"] for line in scene.log if line["event"] == "message not admitted"}


async def test_B75_a_turn_that_asks_for_a_restart_is_finished_first(
    scene: Scene, room: Room
) -> None:
    """The restart that a tool asked for killed the very turn that had asked."""
    async with scene.bot() as bot:

        async def restart(key: str) -> str:
            bot.client.end()
            await asyncio.sleep(1)
            return key

        async def restarts(turn: Turn) -> AsyncGenerator[str, None]:
            await turn.step("restart", restart)
            yield "back in a moment"

        room.says(ADA, "@restart yourself", restarts)
        await room.shows("back in a moment")
        await scene.settles(bot)
    assert bot.store.endings[-1][1] == "answered"


async def test_B76_by_default_a_reply_is_finished_before_the_process_ends(
    scene: Scene, room: Room
) -> None:
    """The drain's limit was zero, so that every stop was abrupt."""
    async with scene.bot() as bot:
        room.says(ADA, "@q1", LLM(10))
        await scene.passes(2)
        bot.client.end()
        await scene.settles(bot)
        assert room.replies() == ["q1: 1 2 3 4 5 6 7 8 9 10 end"]

    [grace] = re.findall(r"stop_grace_period: (\d+)s", (ROOT / "compose.yaml").read_text())
    # What outlasts the drain is parked, and its reply closed, before the process is killed.
    assert Settings().process.drain + 2 * END_WITHIN < float(grace)


async def test_B78_a_gateway_that_fell_silent_is_left_for_a_new_one(
    scene: Scene, room: Room
) -> None:
    """It was dead for half an hour while the process was well: latency stood still, REST worked."""
    connections = scene.sandbox.connections
    as_ever = connections.terms
    connections.terms = replace(as_ever, heartbeat=0.25)  # real seconds, as below
    scene.line.patience = 0.6
    async with scene.bot():
        connections.terms = as_ever  # for the socket that follows
        dialled = scene.line.dialled
        connections.swallow()
        room.says(ADA, "@q1")
        await wait_until(lambda: scene.line.dialled > dialled, description="another is dialled")
        connections.mend()

        await room.shows("q1: end")
    # discord.py's own threads of the sockets that were left; they would outlive the loop.
    await wait_until(
        lambda: not [one for one in threading.enumerate() if one.name.startswith("keep-alive")],
        description="no heartbeat is left",
    )


async def test_B79_a_bot_that_is_started_again_and_again_stops_before_its_token_is_taken(
    scene: Scene, room: Room
) -> None:
    """Each crash took one of the day's sessions; with the last one Discord took the token."""
    connections = scene.sandbox.connections
    connections.starts.change(remaining=STARTS_KEPT + 2)
    starts = 0

    async def starts_and_crashes_fifty_times() -> None:
        nonlocal starts
        for _ in range(50):
            async with scene.bot():
                starts += 1

    with pytest.raises(StartupFailed) as refused:
        await starts_and_crashes_fifty_times()
    assert starts == 3
    assert connections.starts.remaining == STARTS_KEPT - 1
    [line] = refused.value.lines
    assert f"{STARTS_KEPT - 1} of {A_DAY} more sessions" in line
    assert line.endswith("which may be in 24.0 h")


async def test_B79_a_token_that_is_taken_away_ends_the_process_with_one_line(scene: Scene) -> None:
    """The loop went on with a token that was good for nothing any more."""

    async def loses_its_token() -> None:
        async with scene.bot() as bot:
            connections = scene.sandbox.connections
            connections.starts.change(remaining=0)
            connections.invalidate()
            await scene.until(bot.client.is_closed, "it has ended")

    with pytest.raises(TokenRefused) as refused:
        await loses_its_token()
    [line] = refused.value.lines
    assert line.startswith("discord.token: Discord refuses it")


async def test_B81_fifty_long_replies_at_once_leave_the_loop_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Large bodies kept the loop so long that heartbeats stayed away and the bot went offline."""
    hurry(monkeypatch)
    long = "a word " * 3_000

    async def goes_on(turn: Turn) -> AsyncGenerator[str, None]:
        yield long
        turn.state = {"said": long}

    longest, done = 0.0, False

    async def beats() -> None:
        nonlocal longest
        while not done:
            began = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - began)

    async with running(Script(goes_on)) as process:
        for number in range(50):
            await process.hears(message(channel=str(1_000 + number)))
        beating = asyncio.create_task(beats())
        await process.settles()
        done = True
        await beating
    assert longest < 1


async def test_B83_settings_that_are_edited_apply_without_ending_what_runs(
    scene: Scene, room: Room, tmp_path: Path
) -> None:
    """To edit the file restarted the gateway in mid-run, and left a lock behind."""
    file = tmp_path / "interlock.toml"

    def writes(mode: str) -> None:
        conversation = f'[conversation]\nresponder = "Scripted"\nmode = "{mode}"\n'
        file.write_text(f"extensions = {list(EXTENSIONS)}\n{conversation}")

    def logged(event: str) -> bool:
        return any(line["event"].startswith(event) for line in scene.log)

    writes("queue")
    async with scene.bot(file=file):
        room.says(ADA, "@q1", LLM(30))
        await room.streams()
        writes("drop")
        await scene.until(lambda: logged("settings read again"), "it is read")
        room.says(BO, "@q2")
        await room.shows("q1:…", texts.here().busy)
        writes("nonsense")
        await scene.until(lambda: logged("settings refused"), "it is refused")
        room.says(CY, "@q3")

        await room.shows("q1:…end")
    assert scene.play.asked == ["q1"]
    assert scene.sandbox.connections.identifies == 1


async def test_B84_a_step_that_hangs_is_bounded_and_lets_the_next_turn_work(
    scene: Scene, room: Room
) -> None:
    """A summary that never ended held the lock, and each later turn failed after a minute."""
    hangs = Tools(100_000)
    async with scene.bot(limits={"step": "60s"}):
        room.says(ADA, "@q1", hangs)
        room.says(BO, "@q2")
        await room.shows(texts.here().apology, "q2: end", within=90)
    assert (hangs.begun, hangs.done) == (1, 0)


async def test_B85_a_store_that_was_flushed_is_noticed_and_used_again(
    scene: Scene, room: Room, redis_url: str
) -> None:
    """Evicted or flushed keys left workers that looked well and waited for ever."""
    url = redis_url.rpartition("/")[0] + "/9"
    state = connect(url, prefix="flushed", partitions=1)
    await state.open()

    async def a_page_and_another(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a" * 1_500
        while room.own():  # it is flushed as soon as something is there
            await asyncio.sleep(0.05)
            yield "b" * 500

    # In real time: the server knows no other.
    async with scene.bot(state) as bot, redis.asyncio.from_url(url) as server:
        room.says(ADA, "@q1", a_page_and_another)
        await wait_until(lambda: bot.busy, description="it runs")
        await wait_until(room.own, description="it is shown")
        await server.flushdb()
        await wait_until(lambda: not bot.busy, description="the turn has noticed")
        assert len(room.own()) == 1

        room.says(BO, "@q2")
        await wait_until(lambda: room.replies()[1:] == ["q2: end"], description="all is well")
        await wait_until(lambda: not bot.busy, description="it is over")
        await server.flushdb()
    await state.close()


async def test_B87_a_loop_that_stalls_beyond_the_lease_costs_the_turn_and_not_the_process(
    scene: Scene, room: Room
) -> None:
    """The lock was gone before its renewal, and the exception killed the application."""
    async with scene.bot() as bot:
        room.says(ADA, "@q1", LLM(40))
        await room.streams("q1: 1 2")
        scene.clock.leap(LEASE + SWEEP)

        await scene.until(lambda: len(scene.play.runs) == 2, "it is taken up again")
        assert scene.play.runs[0].ending is Ending.LOST
        await room.shows("q1:…end")
        room.says(BO, "@q2")
        await room.shows("q1:…end", "q2: end")
        await scene.settles(bot)
    assert len(room.requests("POST", "/messages")) == 2
