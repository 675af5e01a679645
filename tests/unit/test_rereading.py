"""Settings that are read again while the bot runs: all of them or none, and told which."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import structlog
from discord.ext import commands
from pydantic import BaseModel

from bot import Turn, rereading
from bot.client import Interlock
from bot.config import Settings, load
from bot.errors import ExtensionFailed
from bot.life import heed_signals
from bot.rereading import Reread, Rereading
from bot.rules import Rulebook
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("empty_folder")

FILE = Path("interlock.toml")


def save(text: str, path: Path = FILE) -> None:
    """Write the settings, or another file."""
    path.write_text(text, encoding="utf-8")


def replace(text: str) -> None:
    """Put a new file in the place of the settings, as many editors do."""
    save(text, Path("new"))
    Path("new").rename(FILE)


class Demo(commands.Cog):
    """The responder that is there when nothing else is set, and a cog that prepares."""

    refusal = ""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Say something."""
        yield turn.text

    async def cog_settings(self, settings: Settings) -> None:
        """Refuse when told to."""
        if self.refusal:
            raise ExtensionFailed(self.refusal)


class Bot:
    """Settings read from `interlock.toml`, in force for one cog."""

    def __init__(self, toml: str = "") -> None:
        save(toml)
        loaded = load(None, {}, {}, dotenv=Path(".env"))
        self.cog = Demo()
        self.rules = Rulebook(loaded.settings)
        there = cast("Any", SimpleNamespace(cogs={"Demo": self.cog}))
        self.rereading = Rereading(loaded, self.rules, there)

    @property
    def inbox(self) -> int:
        """One of the settings in force."""
        return self.rules.settings.conversation.inbox

    async def becomes(self, toml: str) -> Reread:
        """Change the file and have it read."""
        save(toml)
        return await self.rereading.read()


@contextmanager
def watching(bot: Bot) -> Iterator[None]:
    """Watch the files as a running process does."""
    watch = asyncio.create_task(bot.rereading.run())
    try:
        yield
    finally:
        watch.cancel()


# ---------------------------------------------------------------------------------- all or nothing


async def test_what_has_changed_is_in_force_and_told() -> None:
    """By its keys, in one line, without values: one may be a secret."""
    bot = Bot()
    with structlog.testing.capture_logs() as lines:
        reread = await bot.becomes("[conversation]\ninbox = 7\n[channels.5]\nmode = 'drop'")
    assert reread == Reread(changed=("conversation.inbox", "channels.5.mode"))
    assert bot.inbox == 7
    assert [line["changed"] for line in lines] == ["conversation.inbox, channels.5.mode"]


@pytest.mark.parametrize(
    ("toml", "problems"),
    [
        (
            "[conversation]\ninbox = 7\nmode = 'all'\n[channels.5]\nmoed = 1",
            [
                'interlock.toml: conversation.mode: "all" is not one of them;',
                "interlock.toml: channels.5.moed: no such setting;",
            ],
        ),
        ("[conversation\n", ["interlock.toml: line 1, column 14: "]),
        (
            "[conversation]\nresponder = 'Parot'",
            ['conversation.responder: the cog "Parot" is not loaded; responders: Demo'],
        ),
        (
            "[channels.5]\nresponder = 'Parot'",
            ['channels.5.responder: the cog "Parot" is not loaded; responders: Demo'],
        ),
        (
            "extensions = ['cogs.demo', 'parrot']\nconversation.responder = 'Parrot'",
            [
                'conversation.responder: the cog "Parrot" is not loaded; responders: Demo',
                "extensions: what is new there is loaded at the next start; restart the bot",
            ],
        ),
    ],
)
async def test_settings_with_a_problem_change_nothing(toml: str, problems: list[str]) -> None:
    """Each is told in the words of a start, all of them in one warning."""
    bot = Bot("[conversation]\ninbox = 4")
    with structlog.testing.capture_logs() as lines:
        reread = await bot.becomes(toml)
    assert len(reread.problems) == len(problems)
    assert all(
        found.startswith(begin) for found, begin in zip(reread.problems, problems, strict=True)
    )
    assert [(line["log_level"], line["reason"]) for line in lines] == [
        ("warning", "; ".join(reread.problems))
    ]
    assert bot.inbox == 4


async def test_a_cogs_own_table_is_checked_before_it_is_taken() -> None:
    """By the model that the cog has asked for, at every place; and it is known afterwards, too."""

    class DemoSettings(BaseModel):
        pace: int = 1

    bot = Bot("[conversation]\ninbox = 4")
    bot.rules.settings.cog("demo", DemoSettings)
    bad = "[conversation]\ninbox = 5\n[cogs.demo]\npace = 2\n[guilds.1.cogs.demo]\npace = 'x'"
    reread = await bot.becomes(bad)
    assert reread.problems == (
        'interlock.toml: guilds.1.cogs.demo.pace: "x" is no whole number; write digits only',
    )
    assert bot.inbox == 4
    await bot.becomes("[cogs.demo]\npace = 2")
    assert bot.rules.settings.cog("demo", DemoSettings).pace == 2
    assert (await bot.becomes("[cogs.demo]\npaec = 2")).problems


async def test_a_table_that_no_cog_asks_for_is_refused() -> None:
    """As at a start; one for an extension that a restart will load is not looked at yet."""
    bot = Bot("extensions = ['cogs.demo']")
    bad = await bot.becomes("extensions = ['cogs.demo']\n[cogs.demo]\npace = 2")
    assert bad.problems == (
        "interlock.toml: cogs.demo: the extension has no settings; take the table away",
    )
    later = "extensions = ['cogs.demo', 'my.clock']\n[cogs.clock]\nhands = 3"
    assert (await bot.becomes(later)).waiting == ("extensions",)


async def test_a_cog_may_refuse_what_only_it_can_judge() -> None:
    """Such as a model that no provider has."""
    bot = Bot()
    bot.cog.refusal = "cogs.demo.model: there is no such model"
    reread = await bot.becomes("[conversation]\ninbox = 7")
    assert reread.problems == ("cogs.demo.model: there is no such model",)
    assert bot.inbox == 20


async def test_a_bug_of_a_cog_costs_the_change_and_not_the_bot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is logged with its traceback; the watch goes on."""
    bot = Bot()

    async def stumble(_: Settings) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(bot.cog, "cog_settings", stumble)
    with structlog.testing.capture_logs() as lines:
        reread = await bot.becomes("[conversation]\ninbox = 7")
    assert reread.problems == ("ZeroDivisionError, which nobody expected; see the log",)
    assert [(line["log_level"], line["exc_info"]) for line in lines] == [("error", True)]
    assert bot.inbox == 20


async def test_what_needs_a_restart_is_named_and_stays_as_it_was() -> None:
    """Each time, as long as the file says something else than the process does."""
    bot = Bot("[state]\nlease = '9s'")
    toml = "extensions = ['cogs.demo']\n[conversation]\ninbox = 7\n[state]\nlease = '8s'"
    waiting = ("extensions", "state.lease")
    assert await bot.becomes(toml) == Reread(changed=("conversation.inbox",), waiting=waiting)
    assert (bot.inbox, bot.rules.settings.state.lease) == (7, 9.0)
    assert await bot.becomes(toml) == Reread(waiting=waiting)
    assert await bot.becomes("[conversation]\ninbox = 7\n[state]\nlease = '9s'") == Reread()


async def test_a_file_that_is_gone_is_no_file_that_says_nothing() -> None:
    """The access lists in it would be gone with it."""
    bot = Bot("[access]\nusers = [1]")
    os.unlink(FILE)  # noqa: PTH108
    assert (await bot.rereading.read()).problems == (
        "interlock.toml: no such file any more; put it back",
    )
    assert bot.rules.settings.access.users == ("1",)


# ------------------------------------------------------------------------------------------- when


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rereading, "EVERY", 0.01)


@pytest.mark.usefixtures("_quick")
async def test_a_file_that_is_saved_is_read_by_itself() -> None:
    """Written in place, or put there by a rename, as editors do; and `.env` as well."""
    bot = Bot()
    with watching(bot):
        save("[conversation]\ninbox = 7")
        await wait_until(lambda: bot.inbox == 7, description="the file is read")
        replace("[conversation]\ninbox = 8")
        await wait_until(lambda: bot.inbox == 8, description="the new file is read")
        save("INTERLOCK_CONVERSATION__INBOX=9", Path(".env"))
        await wait_until(lambda: bot.inbox == 9, description="the environment's file is read")


@pytest.mark.usefixtures("_quick")
async def test_whoever_asks_has_the_settings_read_though_no_file_has_changed() -> None:
    """A signal means now."""
    bot = Bot()
    with structlog.testing.capture_logs() as lines, watching(bot):
        bot.rereading.ask()
        await wait_until(lambda: lines, description="the settings are read")
    assert [line["changed"] for line in lines] == ["nothing"]


async def test_a_file_that_is_still_being_written_is_not_read() -> None:
    """Its first half may be valid, and lack what the second half closes."""
    bot = Bot("[conversation]\ninbox = 4\n[access]\nusers = [1]\n")
    halves = ("[conversation]\ninbox = 7\n", "[conversation]\ninbox = 7\n[access]\nusers = [1]\n")
    for written in halves:
        save(written)
        await bot.rereading.look()
        assert bot.inbox == 4
    await bot.rereading.look()
    assert (bot.inbox, bot.rules.settings.access.users) == (7, ("1",))


async def test_a_change_is_complained_about_once() -> None:
    """Not each second until somebody mends it."""
    bot = Bot()
    with structlog.testing.capture_logs() as lines:
        save("[conversation]\ninbox = 0")
        for _ in range(5):
            await bot.rereading.look()
        save("[conversation]\ninbox = 30")
        for _ in range(5):
            await bot.rereading.look()
    assert [line["log_level"] for line in lines] == ["warning", "info"]
    assert bot.inbox == 30


@pytest.mark.parametrize(("terminal", "told"), [(False, "read"), (True, "end")])
async def test_hangup_reads_the_settings_unless_a_terminal_has_closed(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, told: str
) -> None:
    """Who started the bot by hand and closes the window does not want it to live on unseen."""
    heard: list[str] = []
    ask = SimpleNamespace(ask=lambda: heard.append("read"))
    bot = SimpleNamespace(end=lambda: heard.append("end"), rereading=ask)
    stdin = SimpleNamespace(closed=False, isatty=lambda: terminal)
    monkeypatch.setattr(sys, "stdin", stdin)
    heed_signals(cast("Interlock", bot))
    try:
        os.kill(os.getpid(), signal.SIGHUP)
        await wait_until(lambda: heard, description="the signal is heard")
    finally:
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().remove_signal_handler(number)
    assert heard == [told]
