"""The life of a turn: its text, and what store and Discord do to it meanwhile."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import texts
from bot.endings import Ending
from bot.inbound import Message
from bot.responders import Turn
from bot.speaking import Rejected
from tests.unit.fake_process import RULES, Process, Script, hurry, insist_for, running, script
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import ADA, BO, Discord, Fault, message
from tests.waiting import PATIENCE, wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def ask(bot: Process, text: str = "a", **facts: object) -> Message:
    """Ask something and wait until nothing runs any more."""
    await bot.hears(asked := message(text, **facts))  # type: ignore[arg-type]
    await bot.settles()
    return asked


# --------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("chunks", [(), ("",), ("  ", "\n"), ("\u200b", "\u2060")])
async def test_an_empty_reply_is_a_shrug(chunks: tuple[str, ...]) -> None:
    """Nothing, blanks, zero-width: no message that Discord would refuse, but an ending."""
    async with running(script(*chunks)) as bot:
        asked = await ask(bot)
        await wait_until(lambda: bot.discord.reactions(asked.id), description="the shrug is there")
        assert bot.discord.reactions(asked.id) == {texts.EMPTY}
        assert bot.discord.visible() == []
        assert bot.store.ended(asked) == ["answered"]


async def test_a_turn_that_declines_is_silent() -> None:
    """On purpose: not even a shrug."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        turn.decline()
        yield ""

    async with running(Script(respond)) as bot:
        asked = await ask(bot)
        assert bot.discord.asked("create", "react") == []
        assert bot.store.ended(asked) == ["answered"]


async def test_an_empty_reply_is_not_shrugged_at_where_reactions_are_off() -> None:
    """The setting is for every emoji."""
    async with running(script(""), reactions=False) as bot:
        await ask(bot)
        assert bot.discord.asked("react") == []


async def test_the_rest_of_a_long_reply_is_a_file() -> None:
    """Text is conserved: the pages and the file are all of it, in order."""
    text = "".join(f"{number} words of a long reply. " for number in range(400))
    async with running(script(text), rules=replace(RULES, max_pages=2)) as bot:
        await ask(bot)
        one, two, last = bot.discord.messages
        assert last.text == texts.here().file_page
        assert last.file is not None
        shown = f"{one.text} {two.text} {last.file.decode()}"
        assert shown.split() == text.split()


async def test_a_reply_that_just_fits_its_pages_has_no_file() -> None:
    """The file is for what is beyond them."""
    async with running(script("word " * 600), rules=replace(RULES, max_pages=2)) as bot:
        await ask(bot)
        assert [sent.file for sent in bot.discord.messages] == [None, None]


async def test_a_replay_replaces_the_file_of_its_forerunner() -> None:
    """A file cannot be edited, and the other run may have written something else."""
    store, discord = Store(), Discord()
    rules = replace(RULES, max_pages=1)
    store.plan = lambda _number, name: Trouble.LEASE_LOST if name == "commit" else None
    async with running(script("old " * 1000), store=store, discord=discord, rules=rules) as bot:
        await ask(bot)
    store.clock.now += 16
    new = script("new " * 1000)
    async with running(new, store=store.another(), discord=discord, rules=rules) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    first, rest = (sent for sent in discord.messages if not sent.deleted)
    assert rest.file is not None
    assert f"{first.text} {rest.file.decode()}".split() == ["new"] * 1000


async def test_a_replay_that_says_less_removes_what_is_too_much() -> None:
    """Pages of the first run that the second has no use for are deleted before the commit."""
    store, discord = Store(), Discord()
    store.plan = lambda _number, name: Trouble.LEASE_LOST if name == "commit" else None
    async with running(script("word " * 1000), store=store, discord=discord) as bot:
        await ask(bot)
    assert len(discord.visible()) == 3
    store.clock.now += 16
    async with running(script("short"), store=store.another(), discord=discord) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    assert discord.visible() == ["short"]
    assert [outcome for _, outcome in store.endings] == ["answered"]


@pytest.mark.parametrize(
    ("rule", "age", "pings"),
    [
        ("slow", 0.0, False),
        ("slow", 11.0, True),
        ("always", 0.0, True),
        ("never", 11.0, False),
    ],
)
async def test_a_reply_pings_its_author_by_the_setting(rule: str, age: float, pings: bool) -> None:
    """Slow: only when they may have looked away; and never by a later page."""
    async with running(script("word " * 500), rules=replace(RULES, ping_author=rule)) as bot:
        await ask(bot, age=age)
        assert [sent.ping for sent in bot.discord.messages][:1] == [pings]


# -------------------------------------------------------------------------------- store and Discord


@pytest.mark.parametrize("name", ["page", "posted", "commit"])
async def test_an_outage_of_a_moment_is_not_noticed(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Each step is repeated until the store is back."""
    insist_for(monkeypatch, PATIENCE)
    store = Store()
    troubles = iter([Trouble.REFUSED] * 5)
    store.plan = lambda _number, step: next(troubles, None) if step == name else None
    async with running(script("an answer"), store=store) as bot:
        asked = await ask(bot)
        assert bot.discord.replies(asked) == ["an answer"]
        assert store.ended(asked) == ["answered"]


@pytest.mark.parametrize("name", ["page", "posted", "commit"])
async def test_after_a_long_outage_the_turn_is_taken_up_and_said_once(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """No failure is counted, no apology made: a lost store is nobody's mistake."""
    insist_for(monkeypatch, 0.01)
    store = Store()
    store.plan = lambda _number, step: Trouble.REFUSED if step == name else None
    async with running(script("an answer"), store=store) as bot:
        asked = await ask(bot)
        assert store.endings == []
        assert "fail" not in store.steps
        store.plan = lambda _number, _step: None
        store.clock.now += 16
        await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.visible() == ["an answer"]
        assert store.ended(asked) == ["answered"]


async def test_a_refusal_to_send_ends_the_turn_after_one_request() -> None:
    """The place is left alone for a while: what waits there is not even begun."""
    runs = 0

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        nonlocal runs
        runs += 1
        yield "a word"
        await asyncio.sleep(0.02)

    async with running(Script(respond)) as bot:
        bot.discord.plan = lambda _number, _method: Fault(Rejected(403, 50013))
        await bot.hears(first := message("a", ADA))
        await bot.hears(second := message("b", BO))
        await bot.settles()
        await ask(bot, "c", author=BO)
        assert runs == 1
        assert len(bot.discord.asked("create", "edit")) == 1
        assert bot.store.endings == [
            (first.id, "dead-lettered"),
            (second.id, "dead-lettered"),
        ]


async def test_a_discord_that_does_not_answer_holds_the_next_turn_up_only_briefly() -> None:
    """Closing a reply has its time; then the next one begins, and the mark follows."""
    begun = asyncio.Event()

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield f"to {turn.text}"
        if turn.text == "a":
            await begun.wait()
            yield " and more"
            await asyncio.Event().wait()

    async with running(Script(respond)) as bot:
        await bot.hears(asked := message("a", ADA))
        await bot.hears(waits := message("b", BO))
        await wait_until(lambda: bot.discord.replies(asked), description="it has begun")
        bot.discord.next("edit", Fault(hold=asyncio.Event()))
        begun.set()
        await wait_until(lambda: bot.discord.asked("edit"), description="an edit hangs")
        bot.locks.cancel(asked.id, Ending.STOPPED)
        await wait_until(lambda: bot.discord.replies(waits), description="the next has begun")
        marked = f"to a{texts.here().mark(Ending.STOPPED)}"
        await wait_until(lambda: bot.discord.replies(asked) == [marked], description="the mark")
