"""`python -m bot` as real processes: exit codes, lines, signals, and the sandbox beside the bot."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import aiohttp
import pytest

from tests.unit.discord_stub import TOKEN
from tests.waiting import wait_until

HOME = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("empty_folder")


def command(*words: str) -> list[str]:
    """Make the command line of a process."""
    return [sys.executable, "-m", "bot", *words]


def environment(**variables: str) -> dict[str, str]:
    """Make the environment of a process: ours, and where the packages lie."""
    return dict(os.environ) | {"PYTHONPATH": str(HOME), "COLUMNS": "80"} | variables


async def interlock(*words: str, **variables: str) -> tuple[int | None, str, str]:
    """Run one command to its end; answer its exit code, output and errors."""
    process = await asyncio.create_subprocess_exec(
        *command(*words),
        env=environment(**variables),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert b"canary" not in out + err
    return process.returncode, out.decode(), err.decode()


@dataclass
class Running:
    """A process that goes on, and what it has printed so far."""

    process: asyncio.subprocess.Process
    output: list[str] = field(default_factory=list)

    async def read(self) -> None:
        """Collect its output until it ends."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.output.append(line.decode())

    @property
    def text(self) -> str:
        """Everything printed so far."""
        return "".join(self.output)

    async def address(self) -> str:
        """Wait until it names the page, and answer its address without the slash."""
        found = await wait_until(
            lambda: re.search(r"(http://127\.0\.0\.1:\d+)/ ", self.text.replace("\n", " ")),
            timeout=20,
            description="the page's address is printed",
        )
        return cast("re.Match[str]", found)[1]


@pytest.fixture
async def start() -> AsyncIterator["Starter"]:
    """Start processes that do not outlive the test."""
    starter = Starter()
    yield starter
    await starter.end()


class Starter:
    """Starts processes, and ends them with the test."""

    def __init__(self) -> None:
        self._running: list[tuple[Running, asyncio.Task[None]]] = []

    async def __call__(self, *words: str, **variables: str) -> Running:
        """Start one."""
        process = await asyncio.create_subprocess_exec(
            *command(*words),
            env=environment(**variables),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        running = Running(process)
        self._running.append((running, asyncio.create_task(running.read())))
        return running

    async def end(self) -> None:
        """End what still runs."""
        for running, reading in self._running:
            if running.process.returncode is None:
                running.process.kill()
            await running.process.wait()
            await reading


def write_settings(text: str) -> None:
    """Write the settings file of this folder."""
    Path("interlock.toml").write_text(text, encoding="utf-8")


def names() -> set[str]:
    """Name what lies in this folder."""
    return {path.name for path in Path().iterdir()}


def arguments_of(pid: int) -> str:
    """Read the command line of a process, as every user of the machine can."""
    on_linux = Path(f"/proc/{pid}/cmdline")
    if on_linux.exists():
        return on_linux.read_text().replace("\0", " ")
    ps = ["ps", "-o", "args=", "-p", str(pid)]
    return subprocess.run(ps, capture_output=True, check=True, text=True).stdout


async def bot_status(session: aiohttp.ClientSession, page: str) -> dict[str, object]:
    """Ask the sandbox how the bot's process is."""
    async with session.get(f"{page}/control/bot") as response:
        return cast("dict[str, object]", await response.json())


@pytest.mark.parametrize(
    ("words", "variables", "line"),
    [
        (
            ["run"],
            {"INTERLOCK_LOG__LEVEL": "loud"},
            "environment INTERLOCK_LOG__LEVEL: ",
        ),
        (["run", "--config", "missing.toml"], {}, "missing.toml: no such file"),
        (["run"], {}, "discord.token: there is none"),
        (["--state-url", "mysql://host"], {}, "flag --state-url: state.url: "),
        (
            ["run", "--discord-api", "http://127.0.0.1:1/api"],
            {"INTERLOCK_TOKEN": TOKEN, "INTERLOCK_EXTENSIONS": "nowhere.parrot"},
            "extensions: nowhere.parrot is not found",
        ),
        (
            ["run", "--state-url", "redis://:canary@127.0.0.1:1/0"],
            {"INTERLOCK_TOKEN": TOKEN},
            "state.url: redis://:***@127.0.0.1:1/0: ",
        ),
    ],
)
async def test_what_keeps_a_process_from_starting_is_one_line_and_exit_code_2(
    words: list[str], variables: dict[str, str], line: str
) -> None:
    """No traceback, nothing half-started, from the settings down to the store."""
    code, out, err = await interlock(*words, **variables)
    assert (code, out) == (2, "")
    assert err.startswith(line)
    assert err.count("\n") == 1


async def test_a_malformed_file_is_named_with_line_and_column() -> None:
    """The first thing that goes wrong for somebody who edits TOML by hand."""
    write_settings('[state]\nurl = "memory:\n')
    code, _, err = await interlock("config")
    assert (code, err.split(": ")[:2]) == (2, ["interlock.toml", "line 2, column 15"])


async def test_a_port_that_is_taken_is_one_line() -> None:
    """Most often by another `interlock`."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words in (["--port", port], ["sandbox", "--port", port]):
            code, out, err = await interlock(*words)
            assert (code, out) == (2, "")
            assert err == (
                f"sandbox.port: {port} cannot be used: Address already in use;"
                " choose another by --port, 0 for a free one\n"
            )


async def test_the_sandbox_alone_prints_the_token_and_the_addresses(start: Starter) -> None:
    """What a bot that is started elsewhere needs; SIGTERM ends it well."""
    sandbox = await start("sandbox", "--port", "0")
    page = await sandbox.address()
    await wait_until(lambda: "Ctrl-C" in sandbox.text, description="everything is printed")
    found = re.search(r"DISCORD__TOKEN=(\S+)", sandbox.text)
    assert found is not None
    assert f"--discord-api {page}/api/v10" in sandbox.text
    assert f"--discord-gateway {page.replace('http', 'ws')}/gateway" in sandbox.text
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bot {found[1]}"}) as session,
        session.get(f"{page}/api/v10/users/@me") as response,
    ):
        assert response.status == 200
    sandbox.process.send_signal(signal.SIGTERM)
    assert await sandbox.process.wait() == 0


async def test_without_a_token_a_page_and_a_bot_are_there(start: Starter) -> None:
    """`interlock` alone: the bot comes online, is crashed, restarted, and ended by one signal."""
    both = await start("--port", "0")
    page = await both.address()
    assert "python -m bot init" in both.text  # as it was started here
    printed = [line for line in both.text.splitlines() if not line.startswith("{")]
    assert max(map(len, printed)) <= 80
    async with aiohttp.ClientSession() as session:

        async def online() -> bool:
            return (await bot_status(session, page))["online"] is True

        await wait_until(online, timeout=20, description="the bot is online")
        first = (await bot_status(session, page))["pid"]
        async with session.post(f"{page}/control/bot/crash") as response:
            assert response.ok
        status = await bot_status(session, page)
        assert (status["running"], status["exit_code"]) == (False, -signal.SIGKILL)
        async with session.post(f"{page}/control/bot/restart") as response:
            assert response.ok
        await wait_until(online, timeout=20, description="the bot is online again")
        second = (await bot_status(session, page))["pid"]
    assert isinstance(second, int)
    assert second != first
    assert "token" not in arguments_of(second).lower()
    both.process.send_signal(signal.SIGTERM)
    assert await both.process.wait() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)
    assert "interlock.sandbox.db" in names()
    assert "interlock.db" not in names()


async def test_the_bot_does_not_outlive_a_supervisor_that_is_killed(start: Starter) -> None:
    """An orphan would go on talking to whoever takes the port next."""
    both = await start("--port", "0")
    page = await both.address()
    async with aiohttp.ClientSession() as session:

        async def pid() -> object:
            status = await bot_status(session, page)
            return status["online"] and status["pid"]

        bot = await wait_until(pid, timeout=20, description="the bot is online")
    assert isinstance(bot, int)
    both.process.kill()
    await both.process.wait()

    def gone() -> bool:
        try:
            os.kill(bot, 0)
        except ProcessLookupError:
            return True
        return False

    await wait_until(gone, timeout=20, description="the bot has ended too")


async def test_the_page_stays_when_the_bot_dies_by_itself(start: Starter) -> None:
    """One line with its exit code; here the bot cannot load what it is told to."""
    both = await start("--port", "0", INTERLOCK_EXTENSIONS="nowhere.parrot")
    page = await both.address()
    await wait_until(
        lambda: "ended by itself with exit code 2" in both.text.replace("\n", " "),
        timeout=20,
        description="the end is told",
    )
    assert "nowhere.parrot is not found" in both.text
    async with aiohttp.ClientSession() as session:
        status = await bot_status(session, page)
    assert json.dumps(status["exit_code"]) == "2"
