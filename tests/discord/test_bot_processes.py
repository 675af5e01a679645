"""The bot as real processes: killed with -9, ended by SIGTERM, two of them on one store."""

import asyncio
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from discord import Intents

from bot import texts
from bot.endings import Ending
from bot.wakes import EVERY
from sandbox import Sandbox
from sandbox.faults import Fault
from tests.discord.bots import LEASE, START, Room, online, process, refused
from tests.discord.staged import EFFECTS
from tests.waiting import wait_until

#: Seconds that a busy machine may add to what the bot promises.
SLACK = 3.0

STAGED = {
    "INTERLOCK_EXTENSIONS": "tests.discord.staged,cogs.control",
    "INTERLOCK_CONVERSATION__RESPONDER": "Staged",
    "INTERLOCK_LIMITS__PERSON_TURNS_PER_MINUTE": "100",
}


@pytest.fixture
def on_redis(redis_url: str, redis_prefix: str) -> dict[str, str]:
    """Give what a process needs in its environment to work on Redis, as others may do too."""
    return {"INTERLOCK_STATE__URL": redis_url, "INTERLOCK_STATE__PREFIX": redis_prefix}


# ------------------------------------------------------------------------------------ kill -9


@dataclass(frozen=True)
class Moment:
    """What Ada says in one conversation, and where in its answer the process is killed."""

    says: str
    #: What is on Discord at that moment.
    shown: tuple[str, ...]
    #: What is there in the end.
    whole: str
    #: What happens until then to its requests.
    fault: Fault | None = None


MOMENTS = {
    "before-the-first-create": Moment("until:later a b", (), "a b"),
    "create-on-its-way": Moment("a b", (), "a b", Fault("POST", times=1, latency=60)),
    "create-done-and-unheard": Moment("a b", ("a b",), "a b", Fault("POST", lose_reply=True)),
    "in-the-middle": Moment("a until:later b", ("a",), "a b"),
    "edit-on-its-way": Moment("a until:now b", ("a",), "a b", Fault("PATCH", times=1, latency=60)),
    "sent-anew": Moment("a until:now b", ("a",), "a b", Fault("DELETE", times=1, latency=60)),
    "in-a-step": Moment("a step:later b", ("a",), "a worked b"),
    "after-a-step": Moment("step: a until:later b", ("worked a",), "worked a b"),
}


async def test_kill_9_at_any_moment_costs_nothing_but_time_on_sqlite(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """
    Each message is answered where its answer had begun, once, and whoever waited is next.

    A step that was recorded is not run again; one that was not has the same idempotency key.
    """
    await _kill_at_any_moment(sandbox, tmp_path, STAGED)


async def test_kill_9_at_any_moment_costs_nothing_but_time_on_redis_by_one_line_of_toml(
    sandbox: Sandbox, redis_url: str, redis_prefix: str, tmp_path: Path
) -> None:
    """Nothing else changes, and no file is made."""
    (tmp_path / "interlock.toml").write_text(f'state.url = "{redis_url}"\n')
    # Only so that this test finds its keys.
    await _kill_at_any_moment(
        sandbox, tmp_path, {**STAGED, "INTERLOCK_STATE__PREFIX": redis_prefix}
    )
    assert not (tmp_path / "interlock.db").exists()


async def _kill_at_any_moment(sandbox: Sandbox, tmp_path: Path, settings: dict[str, str]) -> None:
    rooms = _rooms(sandbox, *MOMENTS)
    settings |= {f"INTERLOCK_CHANNELS__{rooms['sent-anew'].id}__FINAL": "new"}
    async with process(sandbox, tmp_path, **settings) as first:
        await online(sandbox)
        waiting = await _until_each_is_at_its_moment(sandbox, rooms, tmp_path)
        first.kill()
        await first.wait()
    written = {name: _ids(room) for name, room in rooms.items()}
    grown = written["sent-anew"].pop(0)
    # What is on its way stays there until all is said again: the latest it can arrive.
    sandbox.faults.active.clear()
    (tmp_path / "later").touch()

    async with process(sandbox, tmp_path, **settings) as second:
        for name, moment in MOMENTS.items():
            await rooms[name].until_replies(moment.whole, "b too", timeout=LEASE + START)
        sandbox.faults.clear()
        for name, room in rooms.items():
            await room.until_marked(waiting[name])
        second.terminate()
        assert await second.wait() == 0

    for name, room in rooms.items():
        assert room.replies() == [MOMENTS[name].whole, "b too"]
        assert _ids(room)[: len(written[name])] == written[name]
    assert written["sent-anew"] > [grown]
    late = rooms["create-on-its-way"]
    assert len(late.requests("POST", f"{late.id}/messages")) == 3
    effects = (tmp_path / EFFECTS).read_text().splitlines()
    runs = Counter(effect.split("/")[0] for effect in effects)
    assert runs == {str(rooms["in-a-step"].id): 2, str(rooms["after-a-step"].id): 1}
    assert len(set(effects)) == 2


def _rooms(sandbox: Sandbox, *names: str) -> dict[str, Room]:
    for name in names:
        sandbox.world.add_channel(sandbox.world.guild.id, name)
    return {name: Room(sandbox, name) for name in names}


def _ids(room: Room) -> list[int]:
    return [message.id for message in room.own()]


async def _until_each_is_at_its_moment(
    sandbox: Sandbox, rooms: dict[str, Room], folder: Path
) -> dict[str, int]:
    """Lead each conversation to its moment, with Bo waiting behind; answer Bo's messages."""
    struck = []
    for name, room in rooms.items():
        if (fault := MOMENTS[name].fault) is not None:
            sandbox.faults.add(replace(fault, path=f"/channels/{room.id}/messages*"))
            struck += [sandbox.faults.active[-1]] if fault.times else []
        room.say("Ada", MOMENTS[name].says)
    for name, room in rooms.items():
        if shown := MOMENTS[name].shown:
            await room.until_replies(*shown)
    waiting = {name: room.say("Bo", "b too") for name, room in rooms.items()}
    for name, room in rooms.items():
        await room.until_marked(waiting[name], texts.WAITING)
    (folder / "now").touch()
    await wait_until(
        lambda: not any(one in sandbox.faults.active for one in struck),
        description="three requests are on their way",
    )
    await wait_until(
        lambda: (folder / EFFECTS).read_text().count("\n") == 2, description="two effects"
    )
    return waiting


# ------------------------------------------------------------------------------ two processes


async def test_two_processes_with_the_same_shard_answer_each_message_once(
    sandbox: Sandbox, on_redis: dict[str, str], tmp_path: Path
) -> None:
    """Both hear everything; one of them answers, in order, and the other keeps quiet."""
    rooms = _rooms(sandbox, *(f"room-{number}" for number in range(10)))
    settings = {**STAGED, **on_redis}
    async with (
        process(sandbox, tmp_path, **settings) as one,
        process(sandbox, tmp_path, **settings) as other,
    ):
        await online(sandbox, 2)
        said = [room.say(who, f"by {who}") for who in ("Ada", "Bo") for room in rooms.values()]
        assert len(said) == 20
        for room in rooms.values():
            await room.until_replies("by Ada", "by Bo")
        # Whatever was still to come has come when both have ended.
        for bot in (one, other):
            bot.terminate()
        assert [await one.wait(), await other.wait()] == [0, 0]
    assert [room.replies() for room in rooms.values()] == [["by Ada", "by Bo"]] * len(rooms)
    answered = [message.reference for room in rooms.values() for message in room.own()]
    assert sorted(int(one["message_id"]) for one in answered if one) == sorted(said)


async def test_kill_works_for_a_turn_that_the_other_process_holds(
    sandbox: Sandbox, on_redis: dict[str, str], tmp_path: Path
) -> None:
    """The command is heard by a process that has nothing to do with the turn."""
    room = Room(sandbox)
    async with process(sandbox, tmp_path, **STAGED, **on_redis):
        await online(sandbox)
        room.say("Bo", "a until:never b")
        await room.until_replies("a")
        [holder] = sandbox.connections.sessions.values()
        async with process(sandbox, tmp_path, **STAGED, **on_redis):
            await online(sandbox, 2)
            assert holder.connection is not None
            holder.connection.muted = True
            waits = room.say("Cy", "a")
            await room.until_marked(waits, texts.WAITING)

            used = sandbox.interactions.use(room.id, room.world.person("Ada").id, "kill", {})
            outcome = await sandbox.interactions.outcome(used)
            told = time.monotonic()

            assert outcome["content"] == "Stopped Bo's reply; dropped 1 waiting message (Cy)."
            killed = f"a{texts.here().mark(Ending.KILLED)}"
            await wait_until(lambda: room.replies()[0] == killed, description="the mark")
            assert time.monotonic() - told < 2
            await room.until_marked(waits)
            room.say("Cy", "b")
            await wait_until(lambda: room.replies()[-1] == "b", description="the next answer")
            assert len(room.replies()) == 3


async def test_the_other_process_takes_over_within_the_life_of_a_lease(
    sandbox: Sandbox, on_redis: dict[str, str], tmp_path: Path
) -> None:
    """What the killed process held goes on in the same message, and what waited is next."""
    room = Room(sandbox)
    async with process(sandbox, tmp_path, **STAGED, **on_redis) as holder:
        await online(sandbox)
        room.say("Ada", "a until:later b")
        room.say("Bo", "b too")
        await room.until_replies("a")
        async with process(sandbox, tmp_path, **STAGED, **on_redis):
            await online(sandbox, 2)
            holder.kill()
            died = time.monotonic()
            (tmp_path / "later").touch()
            await room.until_replies("a b", "b too")
            assert time.monotonic() - died < LEASE + EVERY + SLACK


# ------------------------------------------------------------------------------------ SIGTERM


async def test_on_sigterm_the_running_turn_ends_and_then_the_process_well(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """It takes no new turn, and leaves as soon as the last one is over."""
    room = Room(sandbox)
    async with process(sandbox, tmp_path, **STAGED) as bot:
        await online(sandbox)
        room.say("Ada", "a until:later b")
        waits = room.say("Bo", "b too")
        await room.until_marked(waits, texts.WAITING)
        bot.terminate()
        (tmp_path / "later").touch()
        async with asyncio.timeout(SLACK):
            assert await bot.wait() == 0
    assert room.replies() == ["a b"]


async def test_what_outlasts_the_drain_is_parked_and_goes_on_in_the_next_process_at_once(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """No lease is left to wait for: here it would live for a minute."""
    room = Room(sandbox)
    settings = {**STAGED, "INTERLOCK_STATE__LEASE": "60s", "INTERLOCK_PROCESS__DRAIN": "100ms"}
    async with process(sandbox, tmp_path, **settings) as bot:
        await online(sandbox)
        room.say("Ada", "a until:later b")
        await room.until_replies("a")
        bot.terminate()
        async with asyncio.timeout(SLACK):
            assert await bot.wait() == 0
    (tmp_path / "later").touch()
    async with process(sandbox, tmp_path, **settings):
        await room.until_replies("a b", timeout=START)


async def test_a_second_sigterm_ends_the_process_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    """Whoever asks twice does not want to wait for the reply."""
    room = Room(sandbox)
    async with process(sandbox, tmp_path, **STAGED) as bot:
        await online(sandbox)
        room.say("Ada", "a until:never b")
        await room.until_replies("a")

        def asks_until_it_is_gone() -> bool:
            with suppress(ProcessLookupError):
                os.kill(bot.pid, signal.SIGTERM)
            return bot.returncode is not None

        await wait_until(asks_until_it_is_gone, timeout=SLACK, description="the end")
        assert bot.returncode == 1


# ---------------------------------------------------------------------------------- refusals


async def test_a_token_that_discord_refuses_is_one_line(sandbox: Sandbox, tmp_path: Path) -> None:
    """It says where to get another, and repeats nothing of the token."""
    line = await refused(sandbox, tmp_path, INTERLOCK_TOKEN="canary.canary.canary")
    assert line.startswith("discord.token: Discord refuses it; ")
    assert "canary" not in line


async def test_a_missing_intent_is_one_line(tmp_path: Path) -> None:
    """Discord tells only after the login, by closing the gateway."""
    without = Intents.all()
    without.message_content = False
    async with Sandbox(approved=without) as sandbox:
        line = await refused(sandbox, tmp_path)
        assert 'switch on "Message Content Intent"' in line
        assert not sandbox.connections.online


async def test_a_discord_that_is_not_there_is_one_line(sandbox: Sandbox, tmp_path: Path) -> None:
    """A machine without network, or a wrong address."""
    line = await refused(sandbox, tmp_path, INTERLOCK_DISCORD__API="http://127.0.0.1:1/api/v10")
    assert line.startswith("http://127.0.0.1:1/api/v10 cannot be reached (")
    assert line.endswith("); check the network and discord.api")
