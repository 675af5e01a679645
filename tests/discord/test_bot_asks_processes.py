"""Commands over real processes: two that hear them, one that is killed, and what a log shows."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.faults import Fault
from tests.discord.asking import Asking
from tests.discord.bots import LEASE, START, online, process
from tests.waiting import wait_until

STAGED = {
    "INTERLOCK_EXTENSIONS": "tests.discord.staged,cogs.ask",
    "INTERLOCK_CONVERSATION__RESPONDER": "Staged",
    "INTERLOCK_LIMITS__PERSON_TURNS_PER_MINUTE": "100",
}


def rooms_of(sandbox: Sandbox, *names: str) -> dict[str, Asking]:
    """Make a channel for each."""
    for name in names:
        sandbox.world.add_channel(sandbox.world.guild.id, name)
    return {name: Asking(sandbox, name) for name in names}


async def test_two_processes_that_hear_a_command_answer_it_once(
    sandbox: Sandbox, redis_url: str, redis_prefix: str, tmp_path: Path
) -> None:
    """The one that may not defer any more goes on to the store, which decides between them."""
    rooms = rooms_of(sandbox, *(f"room-{number}" for number in range(8)))
    settings = {
        **STAGED,
        "INTERLOCK_STATE__URL": redis_url,
        "INTERLOCK_STATE__PREFIX": redis_prefix,
    }
    async with (
        process(sandbox, tmp_path, **settings) as one,
        process(sandbox, tmp_path, **settings) as other,
    ):
        await online(sandbox, 2)
        asked = {name: room.ask("Ada", f"a {name}") for name, room in rooms.items()}
        for name, room in rooms.items():
            await room.until(asked[name], says=f"a {name}")
        for bot in (one, other):
            bot.terminate()
        assert [await one.wait(), await other.wait()] == [0, 0]
    assert [room.replies() for room in rooms.values()] == [[f"a {name}"] for name in rooms]
    defers = Counter(
        request.status
        for room in list(rooms.values())[:1]
        for request in room.requests("POST", "/callback")
    )
    assert defers == {200: len(rooms), 400: len(rooms)}


#: What is asked, what the response shows when the process dies, and what happens on the wire.
MOMENTS: dict[str, tuple[str, str, Fault | None]] = {
    "before-the-first-edit": ("until:later a b", "", None),
    "edit-on-its-way": ("a b", "", Fault("PATCH", times=1, latency=60)),
    "edit-done-and-unheard": ("a b", "a b", Fault("PATCH", lose_reply=True)),
    "in-the-middle": ("a until:later b", "a", None),
}


async def test_kill_9_at_any_moment_is_answered_in_the_same_response(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """The token lies with the inbound; a command that waits is answered next, in its own."""
    rooms = rooms_of(sandbox, *MOMENTS)
    asked: dict[str, Any] = {}
    waits: dict[str, Any] = {}
    async with process(sandbox, tmp_path, **STAGED) as first:
        await online(sandbox)
        for name, room in rooms.items():
            question, shown, fault = MOMENTS[name]
            asked[name] = room.ask("Ada", question)
            if fault is not None:
                path = f"/webhooks/*/{asked[name].token}/*"
                sandbox.faults.add(
                    Fault(
                        fault.method, path, fault.times, fault.latency, lose_reply=fault.lose_reply
                    )
                )
            if shown:
                await room.until(asked[name], says=shown)
            else:
                await room.until_thinking(asked[name])
            waits[name] = room.ask("Bo", "b too")
            await room.until_thinking(waits[name])
        await wait_until(
            lambda: not any(fault.times for fault in sandbox.faults.active),
            description="an edit is on its way",
        )
        first.kill()
        await first.wait()
    sandbox.faults.active.clear()
    (tmp_path / "later").touch()
    async with process(sandbox, tmp_path, **STAGED) as second:
        for name, room in rooms.items():
            await room.until(asked[name], says="a b", timeout=LEASE + START)
            await room.until(waits[name], says="b too", timeout=LEASE + START)
        sandbox.faults.clear()
        second.terminate()
        assert await second.wait() == 0
    for room in rooms.values():
        assert room.replies() == ["a b", "b too"]
        assert room.requests("POST", f"/channels/{room.id}/messages") == []


async def test_no_log_shows_the_token_of_an_interaction(
    sandbox: Sandbox, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not at any level, nor when it is refused: for a quarter of an hour it is a way to speak."""
    settings = {**STAGED, "INTERLOCK_LOG__LEVEL": "debug"}
    async with process(sandbox, tmp_path, **settings) as bot:
        await online(sandbox)
        room = Asking(sandbox)
        asked = room.ask("Ada", "a b")
        await room.until(asked, says="a b")
        sandbox.faults.add(Fault("POST", "/interactions/*", status=404, code=10062))
        room.ask("Ada", "c d")
        await wait_until(lambda: room.replies()[-1].endswith("c d"), description="the answer")
        bot.terminate()
        assert await bot.wait() == 0
    out, err = capfd.readouterr()
    assert str(asked.id) in out + err
    assert asked.token.removesuffix(str(asked.id)) not in out + err
