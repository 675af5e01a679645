"""The bot's process beside the sandbox: killed, started again, asked to end, never left behind."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.config import load
from bot.supervisor import WATCHED_LEASE, BotProcess, child_environment, supervise
from tests.waiting import wait_until

#: A stand-in for the bot: it notes that it runs, and what it does when it is asked to end.
OBEDIENT = (
    "import signal, sys; signal.signal(15, lambda *_: sys.exit(0)); {started}; signal.pause()"
)
STUBBORN = "import signal; signal.signal(15, signal.SIG_IGN); {started}\nwhile True: signal.pause()"
DYING = "{started}; raise SystemExit(7)"
TIED = "import os; {started}; os.read(0, 1)"

Made = Callable[..., BotProcess]


class Lines(list[str]):
    """What was said on the terminal."""


@pytest.fixture
def said() -> Lines:
    """Collect the lines for the terminal."""
    return Lines()


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """Name the file that the process writes its id to, once it runs."""
    return tmp_path / "started"


@pytest.fixture
async def made(said: Lines, started: Path) -> AsyncIterator[Made]:
    """Make processes that do not outlive the test."""
    made: list[BotProcess] = []

    def make(program: str, patience: float = 5.0) -> BotProcess:
        note = f"import os, pathlib; pathlib.Path({str(started)!r}).write_text(str(os.getpid()))"
        command = [sys.executable, "-c", program.format(started=note)]
        made.append(BotProcess(command, os.environ, patience=patience, say=said.append))
        return made[-1]

    yield make
    for process in made:
        process.kill()
        await process.stop()


async def pid_of(started: Path) -> int:
    """Wait until the process runs, and answer its id."""
    await wait_until(
        lambda: started.exists() and started.read_text(), description="the process runs"
    )
    return _taken(started)


def _taken(started: Path) -> int:
    pid = int(started.read_text())
    started.unlink()
    return pid


def runs(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_crash_kills_the_process_and_leaves_it_down(
    made: Made, said: Lines, started: Path
) -> None:
    """SIGKILL, as a real crash: no handler runs, nobody starts it again."""
    bot = made(STUBBORN)
    await bot.restart()
    pid = await pid_of(started)
    assert await bot.status() == {"running": True, "pid": pid, "exit_code": None}
    await bot.crash()
    assert not runs(pid)
    assert await bot.status() == {"running": False, "pid": None, "exit_code": -signal.SIGKILL}
    assert said == ["The bot was killed. The page stays; Restart starts it again."]


async def test_restart_starts_a_process_that_is_down(made: Made, started: Path) -> None:
    """After a crash it is the same command in the same environment."""
    bot = made(OBEDIENT)
    await bot.restart()
    first = await pid_of(started)
    await bot.crash()
    await bot.restart()
    assert await pid_of(started) != first


async def test_restart_kills_a_process_that_runs(made: Made, said: Lines, started: Path) -> None:
    """There are never two, and no line is lost on what somebody asked for."""
    bot = made(STUBBORN)
    await bot.restart()
    first = await pid_of(started)
    await bot.restart()
    second = await pid_of(started)
    assert (runs(first), runs(second), said) == (False, True, [])


async def test_two_restarts_at_once_leave_one_process(made: Made, started: Path) -> None:
    """Two windows, two clicks: the calls take effect one after the other."""
    bot = made(OBEDIENT)
    await asyncio.gather(bot.restart(), bot.restart(), bot.restart())
    status = await bot.status()
    assert status["running"] is True
    await wait_until(
        lambda: started.exists() and started.read_text() == str(status["pid"]),
        description="the last process runs",
    )


async def test_a_crash_while_it_is_down_does_nothing(made: Made, said: Lines) -> None:
    """The button may be pressed twice."""
    bot = made(OBEDIENT)
    await bot.crash()
    assert (await bot.status(), said) == ({"running": False, "pid": None, "exit_code": None}, [])


async def test_a_process_that_dies_by_itself_is_told_in_one_line(made: Made, said: Lines) -> None:
    """With its exit code, and what to do; it is not started again by itself."""
    bot = made(DYING)
    await bot.restart()
    await wait_until(lambda: said, description="the end is told")
    assert said == [
        "The bot ended by itself with exit code 7. The page stays; Restart starts it again."
    ]
    assert await bot.status() == {"running": False, "pid": None, "exit_code": 7}


async def test_a_process_that_is_killed_from_outside_is_told_by_its_signal(
    made: Made, said: Lines, started: Path
) -> None:
    """The out-of-memory killer leaves no exit code."""
    bot = made(OBEDIENT)
    await bot.restart()
    os.kill(await pid_of(started), signal.SIGKILL)
    await wait_until(lambda: said, description="the end is told")
    assert said == ["The bot ended by itself by SIGKILL. The page stays; Restart starts it again."]


async def test_stop_asks_first(made: Made, said: Lines, started: Path) -> None:
    """SIGTERM gives running turns their time; an end that was asked for is no news."""
    bot = made(OBEDIENT)
    await bot.restart()
    await pid_of(started)
    await bot.stop()
    assert (await bot.status())["exit_code"] == 0
    assert said == []


async def test_stop_kills_what_does_not_end_in_time(made: Made, said: Lines, started: Path) -> None:
    """Whoever stops the two is not left waiting."""
    bot = made(STUBBORN, patience=0.05)
    await bot.restart()
    pid = await pid_of(started)
    await bot.stop()
    assert not runs(pid)
    assert said == ["The bot did not end in time and was killed."]


async def test_a_restart_that_waits_behind_the_stop_starts_nothing(
    made: Made, started: Path
) -> None:
    """A click in the last moment must not leave a process behind."""
    bot = made(OBEDIENT)
    await bot.restart()
    await pid_of(started)
    await asyncio.gather(bot.stop(), bot.restart())
    assert (await bot.status())["running"] is False


async def test_the_process_ends_when_its_supervisor_is_gone(made: Made, started: Path) -> None:
    """Its standard input is a pipe whose other end is held here and nowhere else."""
    bot = made(TIED)
    await bot.restart()
    pid = await pid_of(started)
    process = bot._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    await wait_until(lambda: not runs(pid), description="the process has ended")


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_both_and_a_second_kills_the_bot(
    made: Made, said: Lines, started: Path, sign: signal.Signals
) -> None:
    """The first asks, the second does not wait for an answer."""
    bot = made(STUBBORN, patience=30.0)
    supervising = asyncio.create_task(supervise(bot))
    pid = await pid_of(started)
    os.kill(os.getpid(), sign)
    await wait_until(lambda: bot._asked_to_end, description="the bot is asked to end")
    assert runs(pid)
    os.kill(os.getpid(), sign)
    await supervising
    assert not runs(pid)
    assert said == []


@pytest.mark.usefixtures("empty_folder")
def test_the_bot_finds_the_sandbox_in_its_environment() -> None:
    """Not on its command line, which every user of the machine can read; flags are passed on."""
    loaded = load(
        None,
        {"discord.shards": "0-1", "discord.shard_count": "2", "state.url": "redis://:pw@h/0"},
        {"INTERLOCK_LOG__LEVEL": "debug", "PATH": "/bin"},
    )
    given = child_environment(
        loaded, token="t", api="http://a", gateway="ws://g", environ={"PATH": "/bin"}
    )
    assert given == {
        "PATH": "/bin",
        "INTERLOCK_DISCORD__TOKEN": "t",
        "INTERLOCK_DISCORD__API": "http://a",
        "INTERLOCK_DISCORD__GATEWAY": "ws://g",
        "INTERLOCK_DISCORD__SHARDS": "0,1",
        "INTERLOCK_DISCORD__SHARD_COUNT": "2",
        "INTERLOCK_STATE__URL": "redis://:pw@h/0",
        "INTERLOCK_STATE__PREFIX": "interlock-sandbox",
        "INTERLOCK_STATE__LEASE": WATCHED_LEASE,
        "INTERLOCK_EXTENSION_RELOAD": "true",
    }
    child = load(None, {}, given).settings
    assert (child.discord.shards, child.discord.shard_count) == ((0, 1), 2)


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(
    ("variable", "value"),
    [("INTERLOCK_STATE__LEASE", "30s"), ("INTERLOCK_EXTENSION_RELOAD", "false")],
)
def test_a_setting_that_was_chosen_is_left_alone(variable: str, value: str) -> None:
    """What is set for those who watch stands only in place of the default."""
    loaded = load(None, {}, {variable: value})
    given = child_environment(loaded, token="t", api="http://a", gateway="ws://g", environ={})
    assert variable not in given


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("sqlite:interlock.db", "sqlite:interlock.sandbox.db"),
        ("sqlite:/var/lib/a.b.db", "sqlite:/var/lib/a.b.sandbox.db"),
        ("sqlite:state", "sqlite:state.sandbox"),
        ("sqlite::memory:", "sqlite::memory:"),
        ("memory:", "memory:"),
        ("redis://h/0", "redis://h/0"),
    ],
)
def test_the_sandbox_has_a_store_of_its_own(url: str, own: str) -> None:
    """What is written in the sandbox must never reach the bot that serves real people."""
    loaded = load(None, {}, {"INTERLOCK_STATE__URL": url, "INTERLOCK_STATE__PREFIX": "x" * 32})
    given = child_environment(loaded, token="t", api="http://a", gateway="ws://g", environ={})
    assert given["INTERLOCK_STATE__URL"] == own
    assert given["INTERLOCK_STATE__PREFIX"] == "x" * 24 + "-sandbox"
    load(None, {}, given)
