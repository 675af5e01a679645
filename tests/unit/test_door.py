"""The door: each message once, in order, and what comes of it is told to whom it concerns."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import notices, texts
from bot.door_rules import DoorRules, Mode
from bot.endings import Ending
from bot.inbound import Message
from bot.responders import Turn
from state.values import Overflow
from tests.unit.fake_process import DOOR_RULES, Process, Script, hurry, running, script
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import ADA, BO, CY, Discord, message
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def echo(turn: Turn) -> AsyncGenerator[str, None]:
    """Say what was asked."""
    yield f"to {turn.text}"


async def hang(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin and go on for ever."""
    yield f"to {turn.text}"
    await asyncio.Event().wait()


async def begun(bot: Process, asked: Message) -> None:
    """Let *asked* be answered, as far as its first words."""
    await bot.hears(asked)
    await wait_until(lambda: bot.discord.replies(asked), description="it is being answered")


# -------------------------------------------------------------------------------------- order, once


async def test_messages_of_one_conversation_are_admitted_in_the_order_they_came() -> None:
    """discord.py makes a task of each; the store may answer the first one last."""
    async with running(Script(echo)) as bot:
        asked = [message(str(number), author) for number, author in enumerate((ADA, BO, CY))]
        first = bot.store.hold = asyncio.Event()
        entering = [asyncio.create_task(bot.hears(one)) for one in asked]
        await wait_until(lambda: bot.store.steps, description="the first is at the store")
        bot.store.hold = None
        await asyncio.sleep(0.01)
        assert len(bot.store.steps) == 1  # the others wait at the door
        first.set()
        await asyncio.gather(*entering)
        await bot.settles()
        assert bot.discord.visible() == ["to 0", "to 1", "to 2"]


async def test_a_message_that_is_heard_twice_is_answered_once() -> None:
    """After a reconnect, or by a second process: the duplicate is silent in every way."""
    store, discord = Store(), Discord()
    async with (
        running(Script(echo), store=store, discord=discord) as bot,
        running(Script(echo), store=store.another(), discord=discord) as other,
    ):
        asked = message("a")
        await asyncio.gather(*(each.hears(asked) for each in (bot, other, bot, other)))
        await bot.settles()
        await other.settles()
        assert discord.visible() == ["to a"]
        assert discord.added == {}
        assert store.ended(asked) == ["answered"]


async def test_what_is_nothing_never_reaches_the_store() -> None:
    """Most of what is said in a guild is not for us."""
    async with running(Script(echo)) as bot:
        await bot.hears(message("to nobody", addressed=False))
        await bot.hears(message("from a bot"), by_machine=True)
        assert bot.store.steps == []


@pytest.mark.parametrize("trouble", [Trouble.REFUSED, Trouble.LOST])
async def test_an_admission_without_an_answer_is_repeated(trouble: Trouble) -> None:
    """And counts once, whether the first try was carried out or not."""
    store = Store()
    troubles = iter([trouble, trouble])
    store.plan = lambda _number, name: next(troubles, None) if name == "admit" else None
    async with running(Script(echo), store=store) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        assert bot.discord.visible() == ["to a"]
        assert store.ended(asked) == ["answered"]


async def test_without_a_store_nothing_is_answered_and_the_door_stays_open() -> None:
    """What cannot be admitted cannot be kept from being said twice; the next one may."""
    async with running(Script(echo)) as bot:
        bot.store.down = True
        await bot.hears(message("a"))
        bot.store.down = False
        await bot.hears(message("b", BO))
        await bot.settles()
        assert bot.discord.visible() == ["to b"]


# ---------------------------------------------------------------------------------- what becomes of


async def test_who_waits_sees_an_hourglass_until_they_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On their own message, and on nobody else's; it goes without another look at the store."""
    monkeypatch.setattr(notices, "LOOK_AGAIN", 30.0)
    async with running(Script(hang)) as bot:
        await begun(bot, asked := message("a"))
        await bot.hears(waits := message("b", BO))
        await wait_until(lambda: bot.discord.reactions(waits.id), description="it is marked")
        assert bot.discord.reactions(waits.id) == {texts.WAITING}
        bot.locks.cancel(asked.id, Ending.STOPPED)
        await wait_until(lambda: bot.discord.replies(waits), description="it is served")
        await wait_until(lambda: not bot.discord.reactions(waits.id), description="it is unmarked")
        assert bot.discord.added[waits.id, texts.WAITING] == 1
        assert bot.discord.added[asked.id, texts.WAITING] == 0


async def test_a_follow_up_replaces_the_running_turn_of_its_author() -> None:
    """At once, in this process; somebody else's message waits."""
    async with running(Script(hang)) as bot:
        await begun(bot, first := message("a", age=1))
        await bot.hears(second := message("b"))
        await wait_until(lambda: bot.discord.replies(second), description="it is being answered")
        assert bot.store.ended(first) == ["superseded"]
        await bot.hears(third := message("c", BO))
        assert bot.discord.replies(third) == []


async def test_a_stop_ends_the_turn_of_its_author_and_withdraws_what_they_have_waiting() -> None:
    """It is acknowledged on the message that asked; others' messages stay."""
    rules = replace(DOOR_RULES, followups="off")
    async with running(Script(hang), door_rules=rules) as bot:
        await begun(bot, asked := message("a", age=2))
        await bot.hears(mine := message("b", age=1))
        await bot.hears(others := message("c", BO))
        await bot.hears(stop := message("stop", addressed=False), stop_phrase=True)
        await wait_until(lambda: bot.discord.replies(others), description="the next is answered")
        assert bot.store.endings == [(mine.id, "withdrawn"), (asked.id, "stopped")]
        assert bot.discord.reactions(stop.id) == {texts.STOPPED}


async def test_somebody_elses_stop_is_an_ordinary_message() -> None:
    """Unless they moderate and address us, which admission has told the store."""
    async with running(Script(hang)) as bot:
        await begun(bot, asked := message("a"))
        await bot.hears(message("stop", BO, addressed=False), stop_phrase=True)
        await bot.hears(message("stop", BO, addressed=False), stop_phrase=True, moderator=True)
        assert bot.store.ended(asked) == []
        await bot.hears(message("stop", BO), stop_phrase=True, moderator=True)
        await bot.settles()
        assert bot.store.ended(asked) == ["stopped"]


async def test_a_stop_with_nothing_to_stop_is_answered() -> None:
    """It may be a question about traffic."""
    async with running(Script(echo)) as bot:
        await bot.hears(message("stop"), stop_phrase=True)
        await bot.settles()
        assert bot.discord.visible() == ["to stop"]


async def test_a_stop_for_a_turn_that_nobody_holds_ends_it_here_and_now() -> None:
    """Its half-written reply is marked, and what waits is due."""
    store, discord = Store(), Discord()
    async with running(Script(hang), store=store, discord=discord) as bot:
        await begun(bot, asked := message("a"))
        turn = store.database.records[asked.conversation].turn
        assert turn is not None
        await wait_until(
            lambda: any(page.message_id for page in turn.pages.values()),
            description="the page is known to be there",
        )
        await bot.crash()
    store.clock.now += 16
    async with running(Script(echo), store=store.another(), discord=discord) as bot:
        await bot.hears(message("stop", addressed=False), stop_phrase=True)
        marked = [f"to a{texts.here().mark('stopped')}"]
        await wait_until(lambda: discord.visible() == marked, description="the mark is there")
        await wait_until(lambda: discord.added, description="the stop is acknowledged")
        assert store.ended(asked) == ["stopped"]


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (replace(DOOR_RULES, inbox=1), texts.here().inbox_full),
        (replace(DOOR_RULES, inbox_per_person=1), texts.here().share_full.format(count=1)),
        (replace(DOOR_RULES, mode=Mode.DROP), texts.here().busy),
    ],
)
async def test_a_message_that_is_not_taken_is_refused_with_a_word(
    rules: DoorRules, text: str
) -> None:
    """Why, in a notice that is gone after a while; it was never admitted, so it has no ending."""
    async with running(Script(hang), door_rules=rules) as bot:
        await begun(bot, message("a"))
        refused = message("c", BO)
        if rules.mode is not Mode.DROP:
            await bot.hears(message("b", BO, age=1))
        await bot.hears(refused)
        await wait_until(lambda: bot.discord.replies(refused), description="it is told")
        assert bot.discord.replies(refused) == [text]
        await wait_until(lambda: not bot.discord.replies(refused), description="it is gone")
        assert bot.store.ended(refused) == []


async def test_who_has_to_make_room_is_told() -> None:
    """Under drop_oldest the newest is taken, and the oldest's person hears of it."""
    rules = replace(DOOR_RULES, inbox=1, overflow=Overflow.DROP_OLDEST)
    async with running(Script(hang), door_rules=rules) as bot:
        await begun(bot, message("a"))
        await bot.hears(oldest := message("b", BO))
        await bot.hears(newest := message("c", CY))
        await wait_until(lambda: bot.discord.replies(oldest), description="they are told")
        assert bot.discord.replies(oldest) == [texts.here().dropped]
        assert bot.store.ended(oldest) == ["dropped"]
        assert bot.store.ended(newest) == []


async def test_a_direct_message_has_no_share() -> None:
    """There is one person; the depth alone bounds what waits."""
    rules = replace(DOOR_RULES, inbox_per_person=1, followups="off")
    async with running(Script(hang), door_rules=rules) as bot:
        await begun(bot, message("a", guild=None, age=3))
        for text, age in (("b", 2.0), ("c", 1.0)):
            await bot.hears(message(text, guild=None, age=age))
        (record,) = bot.store.database.records.values()
        assert len(record.inbox) == 2


async def test_a_head_that_lost_its_holder_goes_before_the_message_that_finds_it() -> None:
    """First in, first out across a crash: the abandoned turn is taken up by the next admission."""
    store, discord = Store(), Discord()
    async with running(Script(hang), store=store, discord=discord) as bot:
        await begun(bot, first := message("a"))
        await bot.crash()
    store.clock.now += 16
    async with running(script("an answer"), store=store.another(), discord=discord) as bot:
        await bot.hears(second := message("b", BO))
        await bot.settles()
        assert store.endings == [(first.id, "answered"), (second.id, "answered")]
        assert discord.visible() == ["an answer", "an answer"]


async def test_a_channel_that_refused_us_lately_is_not_worked_for() -> None:
    """No store, no model, no request, until some time has passed."""
    async with running(Script(echo)) as bot:
        bot.silence.fall(message().channel)
        await bot.hears(message("a"))
        await bot.settles()
        assert "admit" not in bot.store.steps
        assert bot.discord.requests == []
