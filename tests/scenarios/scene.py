"""
The language of the scenarios: people who say things in rooms, a bot, faults, and time that passes.

    async with scene.bot(mode="queue"):
        room.says(ADA, "@q1", LLM(75))
        await scene.passes(35)
        room.says(BO, "@q2")
        await room.shows("q1:…end", "q2:…end")

`@` at the beginning of what somebody says is a mention of the bot, but for `@everyone`. Seconds are
the scene's, which cost next to nothing (see `clock`). The bot is the real one, on the sandbox's
sockets.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

import pytest
from discord.gateway import DiscordWebSocket
from simcord.backend import serializers

from bot import texts
from bot.client import Interlock
from bot.config import Settings, load
from bot.endings import Ending
from bot.testing import sandboxed
from sandbox import Sandbox
from sandbox.faults import Fault
from state import State
from state.memory import Database
from state.outcomes import View
from state.values import Conversation
from tests.discord import bots
from tests.scenarios.clock import Clock
from tests.scenarios.script import PLAY, Play, Script
from tests.unit.fake_store import Clock as StoreClock
from tests.unit.fake_store import Store

#: Ada may manage messages and channels; Bo and Cy are as anybody.
ADA, BO, CY = "Ada", "Bo", "Cy"

STOPPED = texts.here().mark(Ending.STOPPED)
KILLED = texts.here().mark(Ending.KILLED)
SUPERSEDED = texts.here().mark(Ending.SUPERSEDED)
FAILED = texts.here().mark(Ending.FAILED)

#: What the bot is loaded with besides the settings of a scene.
EXTENSIONS = ("tests.scenarios.stage", "cogs.ask", "cogs.control", "cogs.follow")

#: Scene seconds for which something is waited for unless told otherwise.
PATIENCE = 60.0

#: Scene seconds between two looks at what is waited for, and how many there are at most.
LOOK, LOOKS = 0.2, 150


class Line:
    """The way to the gateway, on the bot's side: what it dials, and when that goes through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.up = asyncio.Event()
        self.up.set()
        #: Real seconds of silence after which discord.py gives a socket up; 60 is its default.
        self.patience = 60.0
        #: How often the bot has tried to open a socket.
        self.dialled = 0
        self._dial = DiscordWebSocket.from_client
        monkeypatch.setattr(DiscordWebSocket, "from_client", self._dial_when_up)

    async def _dial_when_up(self, client: Any, **how: Any) -> DiscordWebSocket:  # noqa: ANN401
        self.dialled += 1
        client._connection.heartbeat_timeout = self.patience
        await self.up.wait()
        return await self._dial(client, **how)


@dataclass(slots=True)
class Bot:
    """One process of the bot, as far as a scene needs to look into it."""

    client: Interlock
    #: Its own handle on the store, with the steps it took and the faults planned for it.
    store: Store

    @property
    def busy(self) -> int:
        """How many turns it holds."""
        return len(self.client.locks)


@dataclass(slots=True)
class Scene:
    """Everything that is there: a Discord, a store, processes of the bot, and the time."""

    sandbox: Sandbox
    monkeypatch: pytest.MonkeyPatch
    clock: Clock
    line: Line
    #: What was logged, as structlog's events.
    log: Sequence[Mapping[str, Any]]
    #: In one part, for every second each part is looked through for what is due.
    database: Database = field(default_factory=lambda: Database(partitions=1))
    play: Play = field(default_factory=Play)

    # --- the bot ---------------------------------------------------------------------------------

    @asynccontextmanager
    async def bot(
        self, state: State | None = None, file: Path | None = None, **settings: object
    ) -> AsyncIterator[Bot]:
        """
        Run one process of the bot.

        *settings* are keys of `[conversation]`, or whole tables if they are dictionaries; or all of
        them stand in a *file*. Two at once share the store, which is in memory unless *state* is
        given; one after another is a restart.
        """
        store = Store(cast("StoreClock", time.time), self.database)
        PLAY.set(self.play)
        running = sandboxed.running(
            load(file, {}, {}) if file else _settings(settings),
            state or store.port,
            token=self.sandbox.token,
            api=self.sandbox.api,
            gateway=self.sandbox.gateway,
        )
        with ExitStack() as end:
            async with running as client:
                try:
                    yield Bot(client, store)
                finally:
                    end.enter_context(self.clock.hurrying(PATIENCE))

    # --- time ------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Seconds by the scene's monotonic clock."""
        return time.monotonic()

    async def passes(self, seconds: float) -> None:
        """Let time pass."""
        with self.clock.hurrying(seconds):
            await asyncio.sleep(seconds)

    async def until(
        self, true: Callable[[], object], description: str, *, within: float = PATIENCE
    ) -> float:
        """Let time pass until something is true; answer how much. It fails after *within*."""
        began = time.monotonic()
        with self.clock.hurrying(within) as end:
            while not true():
                assert time.monotonic() < end, f"still waiting until {description}"
                await asyncio.sleep(max(LOOK, within / LOOKS))
        return time.monotonic() - began

    async def settles(self, *running: Bot) -> None:
        """Wait until no turn runs in any of these processes."""
        await self.until(lambda: not any(bot.busy for bot in running), "no turn runs")

    # --- what goes wrong -------------------------------------------------------------------------

    def fails(self, request: str, **fault: Any) -> None:  # noqa: ANN401 (the fields of a fault)
        """Let requests such as `POST /channels/*/typing` fail; see `sandbox.faults`."""
        method, _, path = request.partition(" ")
        self.sandbox.faults.add(Fault(method, path, **fault))

    def heals(self) -> None:
        """Let every request succeed again."""
        self.sandbox.faults.clear()

    async def begins_anew(self, bot: Bot) -> None:
        """Let Discord end the bot's session, and wait until it has another."""
        ready = asyncio.ensure_future(bot.client.wait_for("ready"))
        await asyncio.sleep(0)
        self.sandbox.connections.invalidate()
        await self.until(ready.done, "there is a new session")

    # --- places ----------------------------------------------------------------------------------

    def room(self, name: str = "general") -> "Room":
        """A channel of the guild, made if there is none of that name."""
        world = self.sandbox.world
        if name not in {world.find_channel(one).name for one in world.guild.channel_ids}:
            world.add_channel(world.guild.id, name)
        return Room(self, world.channel(name).id)

    def direct(self, person: str) -> "Room":
        """The direct messages of a person with the bot."""
        world = self.sandbox.world
        return Room(self, world.open_dm(world.person(person).id).id)


class Room(bots.Room):
    """One channel, thread or direct message."""

    def __init__(self, scene: Scene, channel: int) -> None:
        super().__init__(scene.sandbox)
        self.scene = scene
        self.id = channel

    # --- what people do --------------------------------------------------------------------------

    def says(self, person: str, text: str, script: Script | None = None) -> int:
        """Say something, answered by *script* if given; the message's id."""
        mention = f"<@{self.sandbox.application_id}> "
        everybody = text.startswith(("@everyone", "@here"))
        content = mention + text[1:] if text.startswith("@") and not everybody else text
        said = self.world.say(self.id, self.world.person(person).id, content).id
        if script is not None:
            self.scene.play.scripts[said] = script
        return int(said)

    async def uses(self, person: str, command: str, **options: str) -> dict[str, Any]:
        """Use a slash command; what the bot answers, as the sandbox shows an interaction."""
        use = self.sandbox.interactions.use
        with self.scene.clock.hurrying(PATIENCE):
            record = use(self.id, self.world.person(person).id, command, options)
            return await self.sandbox.interactions.outcome(record)

    async def presses(self, person: str, button: tuple[int, str]) -> str:
        """Press one of the `buttons`; what the person is told."""
        message, custom_id = button
        with self.scene.clock.hurrying(PATIENCE):
            record = self.sandbox.interactions.press(
                self.id, self.world.person(person).id, message, custom_id, []
            )
            return str((await self.sandbox.interactions.outcome(record))["content"])

    def redelivers(self, message: int) -> None:
        """Let Discord send the event of a message once more."""
        world = self.world
        payload = serializers.message_payload(world.discord, world.find_message(message))
        world.discord.emit("MESSAGE_CREATE", cast("dict[str, Any]", dict(payload)))

    # --- what is seen ----------------------------------------------------------------------------

    async def shows(self, *patterns: str, within: float = PATIENCE) -> Sequence[str]:
        """
        Wait until the bot's messages are these, in this order, and nothing more.

        `…` in a pattern stands for any text.
        """

        def fits() -> bool:
            replies = self.replies()
            return len(replies) == len(patterns) and all(map(_matches, replies, patterns))

        try:
            await self.scene.until(fits, f"replies are {patterns}", within=within)
        except AssertionError as error:
            raise AssertionError(f"{error}; they are {self.replies()}") from None
        return self.replies()

    async def streams(self, text: str = "") -> None:
        """Wait until the newest message of the bot holds *text*."""
        await self.scene.until(
            lambda: self.own() and text in self.replies()[-1], f"{text or 'a reply'} is shown"
        )

    async def marked(self, message: int, *emoji: str, within: float = PATIENCE) -> None:
        """Wait until exactly these reactions are on a message."""
        await self.scene.until(
            lambda: self.marks(message) == list(emoji), f"the marks are {emoji}", within=within
        )

    def marks(self, message: int) -> list[str]:
        """The reactions on a message."""
        return [str(mark.emoji) for mark in self.world.find_message(message).reactions]

    @property
    def buttons(self) -> list[tuple[int, str]]:
        """The buttons under the bot's messages, as (message, custom id)."""
        return [
            (message.id, button["custom_id"])
            for message in self.own()
            for row in message.components or []
            for button in row.get("components", [])
        ]

    @property
    def typed(self) -> list[float]:
        """When typing was shown here, by the scene's monotonic clock."""
        return [entry.monotonic for entry in self.requests("POST", f"/{self.id}/typing")]

    # --- what the store has ----------------------------------------------------------------------

    @property
    def conversation(self) -> Conversation:
        """What the store knows it as."""
        channel = self.world.find_channel(self.id)
        guild = channel.guild_id
        owner = f"guild/{guild}" if guild else f"user/{channel.recipient_ids[0]}"
        return Conversation(owner, str(self.id))

    async def view(self, bot: Bot) -> View:
        """The turn here and who waits, as *bot*'s store has it."""
        return await bot.client.state.view(self.conversation)


def _settings(given: Mapping[str, object]) -> Settings:
    tables = {name: it for name, it in given.items() if isinstance(it, Mapping)}
    keys = {name: it for name, it in given.items() if name not in tables}
    conversation = {"responder": "Scripted", **keys}
    return Settings.model_validate(
        {"extensions": EXTENSIONS, "conversation": conversation, **tables}
    )


def _matches(text: str, pattern: str) -> bool:
    escaped = pattern.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")
    return fnmatchcase(text, escaped.replace("…", "*"))
