"""
What people see, as tables: each row a case, named after what it says.

Rows of what a message could be are in test_admission.py; here is what then happens to it.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace

import pytest

from bot import texts
from bot.door_rules import Mode
from bot.endings import Ending
from bot.inbound import Message
from bot.responders import Turn
from bot.speaking import Rejected, Unreachable
from tests.unit.fake_process import DOOR_RULES, Process, hurry, running, script
from tests.unit.fakes import ADA, BO, CY, Fault, message
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@dataclass(slots=True)
class Holding:
    """A responder that says what it heard and goes on until it is let go."""

    speaks: bool = True
    heard: list[list[str]] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Say it."""
        self.heard.append([one.text for one in turn.messages])
        if self.speaks:
            yield "to " + " ".join(self.heard[-1])
        await self.go.wait()
        yield "."


async def begins(bot: Process, responder: Holding, asked: Message) -> None:
    """Ask, and wait until it is being answered, as far as the first words if there are any."""
    await bot.hears(asked)
    bot.store.clock.now += 1
    await bot.wakes.sweep()  # for the modes that wait for quiet
    await wait_until(lambda: responder.heard, description="the turn begins")
    if responder.speaks:
        await wait_until(lambda: bot.discord.replies(asked), description="its first words")


async def turns_begin(responder: Holding, count: int) -> None:
    """Wait until so many turns have begun."""
    await wait_until(lambda: len(responder.heard) == count, description=f"{count} turns")


# ------------------------------------------------------------------ a message while a turn runs


@pytest.mark.parametrize(
    ("mode", "turns"),
    [
        pytest.param(Mode.QUEUE, [["a"], ["b"], ["c"]], id="queue: each its own turn, in order"),
        pytest.param(Mode.COLLECT, [["a"], ["b", "c"]], id="collect: all that waited in one turn"),
        pytest.param(Mode.DEBOUNCE, [["a"], ["b", "c"]], id="debounce: while one runs, as collect"),
        pytest.param(
            Mode.INTERRUPT,
            [["a"], ["a", "b"], ["a", "b", "c"]],
            id="interrupt: the newest supersedes, the older ones are kept",
        ),
        pytest.param(Mode.DROP, [["a"]], id="drop: refused with a notice"),
    ],
)
async def test_a_message_that_arrives_while_a_turn_runs(mode: Mode, turns: list[list[str]]) -> None:
    """Each busy mode, with three people and no follow-up among them."""
    responder, rules = Holding(), replace(DOOR_RULES, mode=mode, debounce=0.01, debounce_most=0.05)
    async with running(responder, door_rules=rules) as bot:
        await begins(bot, responder, message("a", ADA, age=60))
        for text, author in (("b", BO), ("c", CY)):
            await bot.hears(message(text, author))
            if mode is Mode.INTERRUPT:
                await turns_begin(responder, 2 if text == "b" else 3)
        if mode is Mode.DROP:
            busy = texts.here().busy
            await wait_until(lambda: busy in bot.discord.visible(), description="the notice")
        responder.go.set()
        await wait_until(lambda: responder.heard == turns, description=f"the turns {turns}")
        await bot.settles()
        assert responder.heard == turns


# --------------------------------------------------------------------------------- follow-ups


@pytest.mark.parametrize(
    ("followups", "addressed", "shown", "becomes"),
    [
        pytest.param("addressed", True, True, "supersedes", id="addressed: supersedes"),
        pytest.param("addressed", False, True, "nothing", id="addressed: chatter is nothing"),
        pytest.param("early", True, False, "supersedes", id="early: before the first page"),
        pytest.param("early", True, True, "waits", id="early: after it, it waits"),
        pytest.param("any", False, True, "supersedes", id="any: without being addressed"),
        pytest.param("off", True, True, "waits", id="off: it waits as any other"),
    ],
)
async def test_the_author_of_a_running_turn_writes_again(
    followups: str, addressed: bool, shown: bool, becomes: str
) -> None:
    """Each setting: cut short at once, answered after it, or not meant for us."""
    responder = Holding(speaks=shown)
    async with running(responder, door_rules=replace(DOOR_RULES, followups=followups)) as bot:
        await begins(bot, responder, asked := message("a", ADA, age=60))
        await bot.hears(replace(message("b", ADA), addressed=addressed))
        if becomes == "supersedes":
            await turns_begin(responder, 2)
        else:
            assert responder.heard == [["a"]]
        responder.go.set()
        await bot.settles()
        assert responder.heard == ([["a"]] if becomes == "nothing" else [["a"], ["b"]])
        superseded = becomes == "supersedes"
        assert bot.store.ended(asked) == ["superseded" if superseded else "answered"]


async def test_the_fourth_follow_up_in_a_row_waits_as_any_other() -> None:
    """At most three in a row."""
    responder = Holding()
    async with running(responder) as bot:
        await begins(bot, responder, message("0", ADA, age=60))
        for number in range(1, 4):
            await bot.hears(message(str(number), ADA, age=60 - 10 * number))
            await turns_begin(responder, number + 1)
        await bot.hears(message("4", ADA))
        assert len(responder.heard) == 4
        responder.go.set()
        await bot.settles()
        assert responder.heard[-1] == ["4"]


# ------------------------------------------------------------------------------------- stops


@pytest.mark.parametrize(
    ("who", "addressed", "moderator", "stopped"),
    [
        pytest.param(ADA, False, False, True, id="its author, by the bare phrase"),
        pytest.param(ADA, True, False, True, id="its author, with a mention"),
        pytest.param(BO, False, False, False, id="others: an ordinary message"),
        pytest.param(BO, True, False, False, id="others with a mention: their own question"),
        pytest.param(BO, False, True, False, id="a moderator without a mention: as others"),
        pytest.param(BO, True, True, True, id="a moderator with a mention"),
    ],
)
async def test_who_may_stop_a_turn(
    who: object, addressed: bool, moderator: bool, stopped: bool
) -> None:
    """The author's own waiting messages go with it, others' stay."""
    assert who in (ADA, BO)
    responder = Holding()
    async with running(responder) as bot:
        asked = message("a", ADA, age=60)
        await begins(bot, responder, asked)
        await bot.hears(theirs := message("c", CY))
        stop = replace(message("stop", ADA if who == ADA else BO), addressed=addressed)
        await bot.hears(stop, stop_phrase=True, moderator=moderator)
        marked = f"to a{texts.here().mark(Ending.STOPPED)}"
        if stopped:
            await wait_until(lambda: bot.discord.replies(asked) == [marked], description="mark")
        responder.go.set()
        await bot.settles()
        assert bot.store.ended(asked) == ["stopped" if stopped else "answered"]
        assert bot.store.ended(theirs) == ["answered"]
        assert (["stop"] in responder.heard) == (addressed and not stopped)


async def test_stop_is_an_ordinary_message_where_nothing_of_theirs_runs_or_waits() -> None:
    """It reaches the responder like any other."""
    responder = Holding()
    responder.go.set()
    async with running(responder) as bot:
        await bot.hears(message("stop", ADA), stop_phrase=True)
        await bot.settles()
        assert responder.heard == [["stop"]]


# ------------------------------------------------------------------------ what Discord answers

APOLOGY, CENSORED = texts.here().apology, texts.here().censored


@pytest.mark.parametrize(
    ("method", "fault", "shown", "ended"),
    [
        pytest.param("create", Rejected(404, 10003), [], "dead-lettered", id="404 10003: gone"),
        pytest.param("create", Rejected(403, 50001), [], "dead-lettered", id="403 50001: hidden"),
        pytest.param(
            "edit", Rejected(404, 10008), ["a b"], "answered", id="10008 on an edit: anew"
        ),
        pytest.param("create", Rejected(404, 10008), [], "answered", id="10008 on a create: go on"),
        pytest.param("create", Rejected(403, 50013), [], "dead-lettered", id="403 50013: no right"),
        pytest.param("create", Rejected(403, 50007), [], "dead-lettered", id="403 50007: no DMs"),
        pytest.param(
            "create", Rejected(400, 160002), ["a b"], "answered", id="160002: without reference"
        ),
        pytest.param("edit", Rejected(400, 50083), ["a b"], "answered", id="50083 archived: anew"),
        pytest.param("create", Rejected(400, 160005), [], "dead-lettered", id="160005: locked"),
        pytest.param("edit", Rejected(429, 30046), ["a b"], "answered", id="30046: too many edits"),
        pytest.param("create", Unreachable("429"), ["a b"], "answered", id="429: wait as told"),
        pytest.param("create", Unreachable("502"), ["a b"], "answered", id="5xx: the same nonce"),
        pytest.param(
            "create",
            Fault(Unreachable("lost"), lost=True),
            ["a b"],
            "answered",
            id="unknown outcome: the same nonce",
        ),
        pytest.param(
            "create", Rejected(400, 200000), [CENSORED], "dead-lettered", id="200000: told once"
        ),
    ],
)
async def test_what_discord_answers_to_a_reply(
    method: str, fault: Exception | Fault, shown: list[str], ended: str
) -> None:
    """Each row by a fault on the wire: what is visible in the end, and how the message ended."""
    responder = Growing() if method == "edit" else script("a b")
    async with running(responder) as bot:
        bot.discord.next(method, fault)
        await bot.hears(asked := message("a", ADA))
        await bot.settles()
        await bot.notices.told()
        # A page that goes on in a new message leaves the old one as far as it came.
        visible = [text for text in bot.discord.visible() if text.strip() != "a"]
        assert visible == shown
        assert bot.store.ended(asked) == [ended]
        creates = [one for one in bot.discord.asked("create") if one.text != CENSORED]
        assert len(creates) <= 2


class Growing:
    """A responder whose reply is edited once."""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Say the second word when the first is there."""
        yield "a "
        await asyncio.sleep(0.05)
        yield "b"
