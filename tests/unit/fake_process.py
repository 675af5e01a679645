"""One process of the bot without discord.py: the core wired together as the client does it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
import structlog

from bot import (
    conclusion,
    conversations,
    delivery,
    draft,
    insist,
    notices,
    pace,
    persist,
    proxies,
    speech,
    turns,
    typing_indicator,
)
from bot.admission import Heard
from bot.config import Place
from bot.core import Core, CoreRules
from bot.door_rules import DoorRules, Mode
from bot.equipment import Rules
from bot.errors import ResponderInvalid
from bot.inbound import Message
from bot.rates import Quota
from bot.replies import Chunk
from bot.responders import Responder, Turn
from bot.speech import Limits
from bot.testing.sight import FakeSight
from bot.testing.webhook import FakeWebhook
from state.errors import StateUnavailable
from state.values import Claim, Overflow
from tests.unit.fake_store import Store
from tests.unit.fakes import Discord, FakeWire
from tests.waiting import wait_until

Respond = Callable[[Turn], AsyncGenerator[Chunk, None]]

RULES = Rules(
    Limits(first_chunk=5.0, progress=5.0, turn=10.0),
    step=5.0,
    max_attempts=3,
    max_pages=6,
    ping_author="slow",
    delete_partial=False,
    final_anew=False,
    keep=200,
    context=20,
    buttons=False,
    reactions=True,
)

DOOR_RULES = DoorRules(
    responder="Script",
    mode=Mode.QUEUE,
    follow_mode=Mode.QUEUE,
    debounce=1.5,
    debounce_most=6.0,
    followups="addressed",
    max_followups=3,
    inbox=20,
    inbox_per_person=3,
    overflow=Overflow.REFUSE,
)

HEARD = Heard(
    by_machine=False,
    system=False,
    addressed=True,
    addressed_elsewhere=False,
    followed=False,
    allowed=True,
    stop_phrase=False,
    moderator=False,
)

#: What each constant of time becomes, in seconds: small, in the same order of size.
_QUICK: tuple[tuple[object, str, object], ...] = (
    (pace, "CADENCE", 0.02),
    (delivery, "GATHER", 0.004),
    (delivery, "BACKOFF_FIRST", 0.002),
    (delivery, "BACKOFF_LAST", 0.008),
    (notices, "WAIT_SHOWN_AFTER", 0.02),
    (notices, "LOOK_AGAIN", 0.01),
    (notices, "NOTICE_LIFE", 0.05),
    (typing_indicator, "FIRST_AFTER", 0.006),
    (typing_indicator, "EVERY", 0.02),
    (proxies, "TAKEN_BACK_WITHIN", 0.3),
    (speech, "END_WITHIN", 0.1),
    (turns, "END_WITHIN", 0.1),
    (draft, "END_WITHIN", 0.1),
    (conversations, "END_WITHIN", 0.1),
    (conclusion, "RETRY_AFTER", (0.0, 0.0)),
    (insist, "PAUSE", 0.002),
    (persist, "BACKOFF_FIRST", 0.002),
    (persist, "BACKOFF_LAST", 0.008),
)


def insist_for(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the core repeat itself to a store that is away for so long."""
    defaults = insist.insist.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "seconds", seconds)


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make everything that waits in the core wait for milliseconds."""
    for module, name, value in _QUICK:
        monkeypatch.setattr(module, name, value)
    insist_for(monkeypatch, 0.1)
    # A traceback drawn by rich takes longer than most of these tests.
    for processor in structlog.get_config()["processors"]:
        if isinstance(processor, structlog.dev.ConsoleRenderer):
            monkeypatch.setattr(processor, "_exception_formatter", structlog.dev.plain_traceback)


@dataclass(slots=True)
class Script:
    """A responder made of an async generator function."""

    respond: Respond


def script(*chunks: str) -> Script:
    """Make a responder that always says the same."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for chunk in chunks:
            yield chunk

    return Script(respond)


async def nothing_to_learn(_: Place) -> None:
    """Know the rules of every place beforehand."""


class Process(Core):
    """The core of one process, on a fake store and a fake Discord."""

    def __init__(
        self,
        store: Store,
        discord: Discord,
        responder: Responder,
        *,
        rules: Rules = RULES,
        door_rules: DoorRules = DOOR_RULES,
        lease: float = 15.0,
        reactions: bool = True,
        proxied: bool = False,
    ) -> None:
        self.store = store
        self.discord = discord
        self.wire = FakeWire(discord)
        self.wire.webhook = FakeWebhook(self.wire)
        self.wire.sight = FakeSight(self.wire)
        self.responder = responder
        claim = Claim(lease, by="test")
        core = CoreRules(
            lease=claim,
            claim=lambda _: claim,
            reactions=lambda _: reactions,
            quota=lambda: Quota(1000, 1000),
            door=lambda _: door_rules,
            proxied=lambda: proxied,
            cog=lambda _responder, _place: None,
            turn=lambda _: replace(rules, reactions=reactions),
            learn=nothing_to_learn,
        )
        super().__init__(store.port, self.wire, core, self._find)

    def _find(self, name: str) -> Responder:
        if name != "Script":
            raise ResponderInvalid(f"no responder is called {name}")
        return self.responder

    async def hears(self, message: Message, **facts: bool) -> None:
        """Let *message* pass the door; *facts* are those of `Heard` that differ from a mention."""
        heard = replace(HEARD, addressed=message.addressed)
        await self.door.enter(message, replace(heard, **facts))

    async def sweeps_in_vain(self) -> None:
        """Sweep while the store cannot be asked for everything."""
        with pytest.raises(StateUnavailable):
            await self.wakes.sweep()

    async def settles(self) -> None:
        """Wait until no turn runs here."""
        await wait_until(lambda: not self.conversations._tasks, description="no turn runs")

    async def crash(self) -> None:
        """Die as by kill -9: from here on nothing of this process reaches store or Discord."""
        self.store.down = self.wire.cut = True
        for task in self.conversations._tasks | self.notices._tasks:
            task.cancel()
        await self.end()

    async def end(self) -> None:
        """Leave no task behind, whatever state the test left this process in."""
        for task in list(self.conversations._tasks):
            task.cancel()
        await asyncio.gather(*self.conversations._tasks, return_exceptions=True)
        await self.requests.close()
        await self.notices.close()


@asynccontextmanager
async def running(
    responder: Responder,
    *,
    store: Store | None = None,
    discord: Discord | None = None,
    **how: object,
) -> AsyncIterator[Process]:
    """Run the core of one process until the block ends."""
    process = Process(store or Store(), discord or Discord(), responder, **how)  # type: ignore[arg-type]
    try:
        yield process
    finally:
        await process.end()
