"""What lands with the end of a turn: remembered values and timers."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import pytest

from bot import Scope
from bot.endings import Ending
from bot.inbound import Kind
from bot.responders import Turn
from state.listings import Scheduled
from tests.unit.fake_process import RULES, Process, Script, hurry, running
from tests.unit.fake_store import Store
from tests.unit.fakes import ADA, BO, Discord, message
from tests.unit.replays import ask, replayed
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


Act = Callable[[Turn], None]


def does(act: Act, *, ends: bool = True) -> Script:
    """Make a responder that does *act*, and says so."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        act(turn)
        yield "done"
        if not ends:
            await asyncio.Event().wait()

    return Script(respond)


async def cut_short(bot: Process, ending: Ending) -> None:
    """Ask something, and end the turn that answers it."""
    await bot.hears(asked := message(age=1))
    await wait_until(bot.discord.visible, description="it has begun")
    bot.locks.cancel(asked.id, ending)
    await bot.settles()


async def failure(act: Act) -> str:
    """Answer why a turn that does *act* was given up."""
    async with running(does(act)) as bot:
        await ask(bot)
        (letter,) = (await bot.store.port.dead_letters("guild/301")).letters
        return letter.error


# ----------------------------------------------------------------------------------------- remember


async def recalled(store: Store, *, by: object = ADA, channel: str = "201") -> dict[Scope, object]:
    """Answer what another turn recalls under "colour", by scope."""
    found: dict[Scope, object] = {}

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for scope in Scope:
            found[scope] = await turn.recall("colour", "none", scope=scope)
        yield "seen"

    async with running(Script(respond), store=store) as bot:
        await ask(bot, author=by, channel=channel)
    return found


def remembers(turn: Turn) -> None:
    """Remember a colour in every scope."""
    for scope in Scope:
        turn.remember("colour", f"blue of the {scope}", scope=scope)


async def test_each_scope_has_values_of_its_own() -> None:
    """One conversation's, one person's and the guild's never meet."""
    store = Store()
    async with running(does(remembers), store=store) as bot:
        await ask(bot)
    mine, theirs, ours = "blue of the person", "blue of the conversation", "blue of the owner"
    assert list((await recalled(store)).values()) == [theirs, mine, ours]
    assert list((await recalled(store, by=BO)).values()) == [theirs, "none", ours]
    assert list((await recalled(store, channel="202")).values()) == ["none", mine, ours]


async def test_a_turn_recalls_what_it_has_just_remembered_and_forgotten() -> None:
    """Though nothing of it has landed yet."""
    found: list[object] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for value in ({"a": [1]}, None):
            turn.remember("colour", value)
            found.append(await turn.recall("colour", "none"))
        yield "seen"

    async with running(Script(respond)) as bot:
        await ask(bot)
    assert found == [{"a": [1]}, "none"]


async def test_what_is_forgotten_is_gone_for_the_next_turn() -> None:
    """None takes the key away."""
    store = Store()
    async with running(does(remembers), store=store) as bot:
        await ask(bot)
    async with running(does(lambda turn: turn.remember("colour", None)), store=store) as bot:
        await ask(bot)
    assert (await recalled(store))[Scope.CONVERSATION] == "none"


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED, Ending.FAILED])
async def test_nothing_is_remembered_of_a_turn_that_was_cut_short(ending: Ending) -> None:
    """It may be half of what belongs together."""
    async with running(does(remembers, ends=False)) as bot:
        await cut_short(bot, ending)
        assert set((await recalled(bot.store)).values()) == {"none"}


async def test_a_value_is_remembered_once_though_its_turn_is_replayed() -> None:
    """It lands with the commit, and not before: a replay counts from the same."""

    async def counting(turn: Turn) -> AsyncGenerator[str, None]:
        count = await turn.recall("count", 0) + 1
        turn.remember("count", count)
        yield f"{count}"

    store, discord = await replayed(counting, counting)
    assert discord.visible() == ["1"]
    async with running(Script(counting), store=store.another(), discord=discord) as bot:
        await ask(bot, "b")
    assert discord.visible() == ["1", "2"]


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda turn: turn.remember("a", "x" * 20_000), "16384 are allowed"),
        (lambda turn: turn.remember("a", object()), "not JSON"),
        (lambda turn: turn.remember("with a space", 1), "with a space"),
        (lambda turn: [turn.remember(f"{n}", n) for n in range(101)], "at most 100 keys"),
    ],
    ids=["large", "no JSON", "odd key", "many"],
)
async def test_what_cannot_be_remembered_is_said_where_it_was_asked(act: Act, why: str) -> None:
    """The turn fails by the line that is wrong, not at its end."""
    assert why in await failure(act)


# ------------------------------------------------------------------------------------------- timers


async def timers(store: Store) -> list[Scheduled]:
    """List what is scheduled."""
    return list((await store.port.schedules("guild/301")).timers)


async def ticking(turn: Turn) -> AsyncGenerator[str, None]:
    """Set a timer when a person asks, and tell of it when it rings."""
    if turn.trigger.kind is Kind.TIMER:
        yield f"{turn.trigger.name}: {turn.trigger.payload}, for {turn.author.name} [{turn.text}]"
    else:
        turn.schedule("tea", delay=300, payload={"cups": 2})
        yield "in five minutes"


async def passes(bot: Process, seconds: float) -> None:
    """Let time pass, and answer what is due."""
    bot.store.clock.now += seconds
    await bot.wakes.sweep()
    await bot.settles()


async def test_a_timer_rings_in_a_turn_of_its_own() -> None:
    """As a message that is no reply, and says in a guild for whom it is."""
    async with running(Script(ticking)) as bot:
        await ask(bot)
        await passes(bot, 299)
        assert bot.discord.visible() == ["in five minutes"]
        await passes(bot, 2)
        reply = bot.discord.messages[-1]
        assert reply.text == "<@101> tea: {'cups': 2}, for Ada []"
        assert reply.reply_to is None
        assert reply.notifies == ADA.id
        assert await timers(bot.store) == []


async def test_a_timer_notifies_nobody_where_replies_never_do() -> None:
    """`ping_author` is about the replies of timers as well."""
    rules = replace(RULES, ping_author="never")
    async with running(Script(ticking), rules=rules) as bot:
        await ask(bot)
        await passes(bot, 301)
        assert [message.notifies for message in bot.discord.messages] == [None, None]


async def test_a_timer_in_a_direct_message_names_nobody() -> None:
    """There is one person to whom it could be said."""
    async with running(Script(ticking)) as bot:
        await ask(bot, guild=None)
        await passes(bot, 301)
        assert bot.discord.visible()[-1] == "tea: {'cups': 2}, for Ada []"


async def test_what_rings_is_no_message_of_a_persons() -> None:
    """The transcript has the reply alone."""
    said: list[str] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        said.extend(f"{one.role}: {one.text}" for one in await turn.history())
        async for chunk in ticking(turn):
            yield chunk

    async with running(Script(respond)) as bot:
        await ask(bot, "tea please")
        await passes(bot, 301)
        said.clear()
        await ask(bot, "thanks")
    assert said == [
        "person: tea please",
        "bot: in five minutes",
        "bot: <@101> tea: {'cups': 2}, for Ada []",
    ]


async def test_a_recurring_timer_rings_until_it_is_removed() -> None:
    """By a later turn, or by its own."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        if turn.trigger.kind is not Kind.TIMER:
            turn.schedule("tick", delay=60, every=60)
        elif (count := (turn.state or 0) + 1) == 3:
            turn.unschedule("tick")
            yield "last "
        else:
            turn.state = count
        yield "tick"

    async with running(Script(respond)) as bot:
        await ask(bot, guild=None)
        for _ in range(5):
            await passes(bot, 60)
        assert bot.discord.visible() == ["tick", "tick", "tick", "last tick"]


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED, Ending.FAILED])
async def test_no_timer_is_set_by_a_turn_that_was_cut_short(ending: Ending) -> None:
    """Whoever stops a reply does not want its alarm either."""
    async with running(does(lambda turn: turn.schedule("tea", delay=1), ends=False)) as bot:
        await cut_short(bot, ending)
        assert await timers(bot.store) == []


async def test_a_replayed_turn_sets_one_timer() -> None:
    """It lands with the commit."""
    store, _ = await replayed(ticking, ticking)
    assert [one.timer.id for one in await timers(store)] == ["Script.tea"]


async def test_the_turn_of_a_timer_survives_the_death_of_its_process() -> None:
    """Its reply is found again though it replies to nothing, and goes on in the same message."""
    store, discord = Store(), Discord()
    async with running(Script(ticking), store=store, discord=discord) as bot:
        await ask(bot)
    begun = asyncio.Event()

    async def half(turn: Turn) -> AsyncGenerator[str, None]:
        yield "half "
        begun.set()
        await asyncio.Event().wait()

    store.clock.now += 301
    dying = store.another()
    async with running(Script(half), store=dying, discord=discord) as bot:
        await bot.wakes.sweep()
        await begun.wait()
        await wait_until(lambda: len(discord.visible()) == 2, description="half is shown")
        await bot.crash()
    discord.knows_nonces = discord.shows_nonces = False
    store.clock.now += 16
    async with running(Script(ticking), store=store.another(), discord=discord) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    assert discord.visible()[1:] == ["<@101> tea: {'cups': 2}, for Ada []"]


async def test_a_follow_up_replaces_the_turn_of_a_timer() -> None:
    """Its author speaks while it is said: it is theirs."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        if turn.trigger.kind is Kind.TIMER:
            yield "ringing"
            await asyncio.Event().wait()
        elif turn.interrupted is not None:
            yield "you are welcome"
        else:
            turn.schedule("tea", delay=300)
            yield "set"

    async with running(Script(respond)) as bot:
        await ask(bot, age=2)
        bot.store.clock.now += 301
        await bot.wakes.sweep()
        await wait_until(lambda: len(bot.discord.visible()) == 2, description="it rings")
        thanks = await ask(bot, "thanks", age=1)
        assert bot.discord.replies(thanks) == ["you are welcome"]


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda turn: turn.schedule("a", delay=-1), "at least 0"),
        (lambda turn: turn.schedule("a", delay=1, every=1), "at least 60 s"),
        (lambda turn: turn.schedule("a", delay=1, payload="x" * 20_000), "16384 are allowed"),
        (lambda turn: turn.schedule("x" * 60, delay=1), "more than 56 characters"),
        (lambda turn: turn.unschedule("a b"), "a b"),
        (lambda turn: [turn.schedule(f"{n}", delay=1) for n in range(21)], "at most 20 timers"),
    ],
    ids=["past", "often", "large", "long name", "odd name", "many"],
)
async def test_what_cannot_be_scheduled_is_said_where_it_was_asked(act: Act, why: str) -> None:
    """The turn fails by the line that is wrong, not at its end."""
    assert why in await failure(act)
