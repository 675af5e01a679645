"""The sweep: retries, abandoned turns and signals are found without anybody's help."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from bot import RetryLater, conclusion, wakes
from bot.endings import BY_SIGNAL
from bot.responders import Turn
from state.memory import Database
from state.values import SignalKind
from tests.unit.fake_process import Process, Script, hurry, running, script
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import ADA, BO, Discord, message
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def half(turn: Turn) -> AsyncGenerator[str, None]:
    """Take a step, say the first half and hang."""
    await turn.step("look", lambda _key: asyncio.sleep(0, "seen"))
    yield "one half"
    await asyncio.Event().wait()


async def whole(turn: Turn) -> AsyncGenerator[str, None]:
    """Say what an earlier run has seen, under its own words."""
    seen = await turn.step("look", lambda _key: asyncio.sleep(0, "seen again"))
    yield f"one half, and {seen}"


async def abandoned(store: Store, discord: Discord) -> None:
    """Let a process begin a turn and die."""
    async with running(Script(half), store=store, discord=discord) as bot:
        await bot.hears(message())
        await wait_until(discord.visible, description="half of it is there")
        await bot.crash()


async def test_an_abandoned_turn_is_taken_up_with_its_steps_and_pages() -> None:
    """Once its lease has ended: steps answer from the journal, pages are edited on."""
    store, discord = Store(), Discord()
    await abandoned(store, discord)
    async with running(Script(whole), store=store.another(), discord=discord) as bot:
        await bot.wakes.sweep()
        assert not bot.conversations._tasks
        store.clock.now += 16
        await bot.wakes.sweep()
        await bot.settles()
    assert discord.visible() == ["one half, and seen"]
    assert len(discord.messages) == 1
    assert [outcome for _, outcome in store.endings] == ["answered"]


async def test_of_several_processes_one_takes_a_turn_up() -> None:
    """Each sweeps; the store gives the lease once."""
    store, discord = Store(), Discord()
    await abandoned(store, discord)
    store.clock.now += 16
    others = [Process(store.another(), discord, script("whole", " reply")) for _ in range(3)]
    await asyncio.gather(*(other.wakes.sweep() for other in others))
    assert sum(len(other.conversations._tasks) for other in others) == 1
    for other in others:
        await other.settles()
        await other.end()
    assert discord.visible() == ["whole reply"]


async def test_a_retry_comes_when_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before, and with everything that the first run has recorded."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        effects = await turn.step("count", lambda _key: asyncio.sleep(0, turn.attempt))
        if turn.attempt == 1:
            raise RetryLater
        yield f"run {turn.attempt}, effect of run {effects}"

    monkeypatch.setattr(conclusion, "RETRY_AFTER", (2.0,))
    async with running(Script(respond)) as bot:
        await bot.hears(message())
        await bot.settles()
        await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.visible() == []
        bot.store.clock.now += 2
        await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.visible() == ["run 2, effect of run 1"]


@pytest.mark.parametrize("kind", list(SignalKind))
async def test_a_signal_whose_hint_was_lost_is_found(kind: SignalKind) -> None:
    """By the next sweep, for a turn that is held here; nobody listens in this test."""
    async with running(Script(half)) as bot:
        await bot.hears(asked := message())
        await wait_until(bot.discord.visible, description="it has begun")
        elsewhere = bot.store.another().port
        await elsewhere.signal(asked.conversation, asked.id, kind, by=ADA.id, op="s")
        (held,) = bot.locks._held.values()
        before = held.reason
        await bot.wakes.sweep()
        assert (before, held.reason) == (None, BY_SIGNAL[kind])
        await bot.settles()


async def test_a_conversation_that_is_held_here_is_left_alone() -> None:
    """Its own task goes on; after an outage it may be due and held at once."""
    async with running(Script(half)) as bot:
        await bot.hears(message())
        await wait_until(bot.discord.visible, description="it has begun")
        bot.store.clock.now += 16
        bot.store.steps.clear()
        await bot.wakes.sweep()
        assert bot.store.steps == ["due"]


@pytest.mark.parametrize("trouble", [Trouble.REFUSED, Trouble.LOST])
async def test_a_claim_without_an_answer_is_repeated(trouble: Trouble) -> None:
    """A lease whose grant was never heard of would keep everybody waiting for its end."""
    store, discord = Store(), Discord()
    await abandoned(store, discord)
    store.clock.now += 16
    troubles = iter([trouble])
    other = store.another()
    other.plan = lambda _number, name: next(troubles, None) if name == "claim" else None
    async with running(Script(whole), store=other, discord=discord) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    assert discord.visible() == ["one half, and seen"]


async def test_a_partition_that_cannot_be_asked_hides_no_other() -> None:
    """One node of a cluster is down: what lives on the others goes on."""
    store = Store(database=Database(partitions=8))
    async with running(script("hello"), store=store) as bot:
        asked = [message(guild=str(guild), channel=str(guild), author=BO) for guild in range(20)]
        bot.conversations._draining = True  # admitted, and begun by nobody
        for one in asked:
            await bot.hears(one)
        bot.conversations._draining = False
        dues = iter([Trouble.REFUSED, Trouble.REFUSED])
        store.plan = lambda _number, name: next(dues, None) if name == "due" else None
        await bot.sweeps_in_vain()
        await bot.settles()
        answered = [one for one in asked if store.ended(one)]
        assert 0 < len(answered) < len(asked)
        await bot.wakes.sweep()
        await bot.settles()
        assert all(store.ended(one) == ["answered"] for one in asked)


async def test_an_outage_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop goes on and finds what has become due meanwhile."""
    monkeypatch.setattr(wakes, "EVERY", 0.005)
    store, discord = Store(), Discord()
    await abandoned(store, discord)
    store.clock.now += 16
    other = store.another()
    other.down = True
    async with running(Script(whole), store=other, discord=discord) as bot:
        sweeping = asyncio.create_task(bot.wakes.run())
        await wait_until(lambda: other.steps.count("due") > 2, description="sweeps have failed")
        other.down = False
        await wait_until(lambda: store.endings, description="the turn has been taken up")
        sweeping.cancel()
        await asyncio.wait({sweeping})
    assert discord.visible() == ["one half, and seen"]
