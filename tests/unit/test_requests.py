"""What people ask of a conversation by command: stop, kill, look, begin anew."""

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest

from bot import requests as module
from bot import speech, texts
from bot.endings import Ending
from bot.inbound import Message
from bot.responders import Turn
from state.outcomes import NotRunning, Signalled
from tests.unit.fake_process import Process, Script, hurry, running
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import ADA, BO, CY, Discord, message
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    monkeypatch.setattr(module, "REACT_WITHIN", 0.1)


async def hang(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin, and never answer."""
    yield f"to {turn.text}"
    await asyncio.Event().wait()


async def echo(turn: Turn) -> AsyncGenerator[str, None]:
    """Say what was asked."""
    yield f"to {turn.text}"


async def busy(bot: Process) -> tuple[Message, Message, Message]:
    """Let one question be answered while two others wait."""
    first, second, third = message("a", ADA, age=3), message("b", BO), message("c", CY)
    for one in (first, second, third):
        await bot.hears(one)
    await wait_until(lambda: bot.discord.replies(first), description="it has begun")
    await on_record(bot, first)
    return first, second, third


async def on_record(bot: Process, asked: Message) -> None:
    """Wait until the store knows the message that the reply to *asked* began with."""
    turn = bot.store.database.records[asked.conversation].turn
    assert turn is not None
    await wait_until(
        lambda: any(page.message_id for page in turn.pages.values()),
        description="the page is known to be there",
    )


async def test_a_kill_ends_the_turn_and_empties_the_inbox_in_one_step() -> None:
    """Whom it hit is answered, for the words of the command; what comes later is new."""
    async with running(Script(hang)) as bot:
        first, second, third = await busy(bot)
        killed = await bot.requests.kill(first.conversation, "900", "kill-1")
        assert killed.turn is not None
        assert killed.turn.id == first.id
        assert [inbound.id for inbound in killed.dropped] == [second.id, third.id]
        await bot.settles()
        assert bot.discord.visible() == [f"to a{texts.here().mark(Ending.KILLED)}"]
        assert {ending for _, ending in bot.store.endings} == {"killed"}
        await bot.hears(later := message("d", BO))
        await wait_until(lambda: bot.discord.replies(later), description="it is answered")


async def test_a_kill_of_ones_own_leaves_what_others_wait_for() -> None:
    """Only their turn, and only their messages."""
    async with running(Script(hang)) as bot:
        first, second, third = await busy(bot)
        killed = await bot.requests.kill(first.conversation, BO.id, "kill-1", BO.id)
        assert killed.turn is None
        assert [inbound.id for inbound in killed.dropped] == [second.id]
        assert bot.store.endings == [(second.id, "killed")]
        assert bot.locks.holds(first.conversation)
        assert bot.store.ended(third) == []


async def test_a_kill_that_two_processes_hear_is_one() -> None:
    """The operation is named after the command: both are answered alike."""
    async with running(Script(hang)) as bot:
        first, *_ = await busy(bot)
        here, there = [
            await bot.requests.kill(first.conversation, "900", "kill-1") for _ in range(2)
        ]
        assert here == there


async def test_a_kill_takes_the_marks_off_what_it_drops() -> None:
    """Nobody waits any more."""
    async with running(Script(hang)) as bot:
        first, second, _ = await busy(bot)
        await wait_until(lambda: bot.discord.reactions(second.id), description="it is marked")
        await bot.requests.kill(first.conversation, "900", "kill-1")
        await wait_until(lambda: not bot.discord.reactions(second.id), description="it is unmarked")


async def test_a_kill_clears_a_head_that_has_lost_its_holder() -> None:
    """Here and now: nobody has to take it up first."""
    store, discord = Store(), Discord()
    async with running(Script(hang), store=store, discord=discord) as bot:
        first, *_ = await busy(bot)
        await bot.crash()
    store.clock.now += 16
    async with running(Script(echo), store=store.another(), discord=discord) as bot:
        await bot.requests.kill(first.conversation, "900", "kill-1")
        assert {ending for _, ending in store.endings} == {"killed"}
        assert len(store.endings) == 3
        marked = f"to a{texts.here().mark(Ending.KILLED)}"
        await wait_until(lambda: discord.replies(first) == [marked], description="it is marked")
        assert not store.database.records


async def test_a_kill_takes_the_lease_from_a_holder_that_does_not_react() -> None:
    """Another process hangs with it; whoever was told to kill goes on with what is new."""
    store, discord = Store(), Discord()
    async with (
        running(Script(hang), store=store, discord=discord) as mute,
        running(Script(echo), store=store.another(), discord=discord) as bot,
    ):
        first, *_ = await busy(mute)
        await bot.requests.kill(first.conversation, "900", "kill-1")
        await bot.hears(later := message("d", BO))
        assert discord.replies(later) == []
        await wait_until(lambda: discord.replies(later), description="it is answered")
        assert store.ended(first) == ["killed"]
        await mute.locks.beat()
        await mute.settles()
        marked = f"to a{texts.here().mark(Ending.KILLED)}"
        await wait_until(lambda: discord.replies(first) == [marked], description="it is marked")


async def test_a_kill_leaves_a_holder_that_reacts_in_peace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What began after the kill is not what was killed."""
    monkeypatch.setattr(module, "REACT_WITHIN", 0.5)
    async with running(Script(hang)) as bot:
        first, *_ = await busy(bot)
        await bot.requests.kill(first.conversation, "900", "kill-1")
        await bot.settles()
        await bot.hears(later := message("d", BO))
        await wait_until(lambda: not bot.requests._tasks, description="nobody looks any more")
        assert "steal" not in bot.store.steps
        assert bot.store.ended(later) == []


async def test_an_outage_while_a_kill_is_insisted_on_is_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command has been answered long ago; the lease ends by itself."""
    async with running(Script(hang)) as bot:
        first, *_ = await busy(bot)
        await bot.requests.kill(first.conversation, "900", "kill-1")
        bot.store.down = True
        await wait_until(lambda: not bot.requests._tasks, description="it has been tried")
    assert "kill not insisted on" in capsys.readouterr().out


@pytest.mark.parametrize("when", [0.0, 0.01])
async def test_closing_waits_for_no_holder(when: float) -> None:
    """A process that ends leaves the rest to the lease."""
    async with running(Script(hang)) as bot:
        first, *_ = await busy(bot)
        await bot.requests.kill(first.conversation, "900", "kill-1")
        await asyncio.sleep(when)
        await bot.requests.close()
        assert not bot.requests._tasks


async def test_a_stop_ends_exactly_the_turn_that_was_meant() -> None:
    """Pressed under an older reply, it is told that this one is over."""
    async with running(Script(hang)) as bot:
        first, second, _ = await busy(bot)
        over = await bot.requests.stop(first.conversation, "5", ADA.id, "stop-1")
        assert over == NotRunning()
        assert bot.store.endings == []
        stopped = await bot.requests.stop(first.conversation, first.id, ADA.id, "stop-2")
        assert isinstance(stopped, Signalled)
        await wait_until(lambda: bot.discord.replies(second), description="the next is answered")
        assert bot.store.ended(first) == ["stopped"]


@pytest.mark.parametrize("trouble", [Trouble.REFUSED, Trouble.LOST])
async def test_requests_are_repeated_until_the_store_answers(trouble: Trouble) -> None:
    """And count once."""
    async with running(Script(hang)) as bot:
        first, *_ = await busy(bot)
        troubles = iter([trouble])
        bot.store.plan = lambda _number, name: next(troubles, None) if name == "kill" else None
        killed = await bot.requests.kill(first.conversation, "900", "kill-1")
        assert len(killed.dropped) == 2
        await bot.settles()
        assert len(bot.store.endings) == 3


async def test_a_new_conversation_begins_at_once_whatever_runs() -> None:
    """What the running turn says belongs to the one that was ended."""
    async with running(Script(hang)) as bot:
        first, *_ = await busy(bot)
        await bot.requests.begin_anew(first.conversation)
        bot.locks.cancel(first.id, Ending.STOPPED)
        await wait_until(lambda: bot.store.ended(first), description="it has ended")
        assert await bot.store.port.history(first.conversation) == ()


async def test_looking_changes_nothing() -> None:
    """The turn, its author and who waits."""
    async with running(Script(hang)) as bot:
        first, second, third = await busy(bot)
        view = await bot.requests.look(first.conversation)
        assert view.turn is not None
        assert (view.turn.id, view.turn.lead, view.turn.live) == (first.id, ADA.id, True)
        assert [inbound.id for inbound in view.waiting] == [second.id, third.id]


@pytest.mark.parametrize("ending", ["stop", "kill"])
async def test_what_people_ask_for_acts_at_once_whatever_the_responder_does(ending: str) -> None:
    """Within the time of its clean-up and of closing the reply, also when it resists."""
    released = asyncio.Event()

    async def resist(turn: Turn) -> AsyncGenerator[str, None]:
        yield f"to {turn.text}"
        while turn.text == "a" and not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    async with running(Script(resist)) as bot:
        first, second, _ = await busy(bot)
        begun = time.monotonic()
        if ending == "stop":
            await bot.requests.stop(first.conversation, first.id, ADA.id, "stop-1")
            await wait_until(lambda: bot.discord.replies(second), description="the next begins")
        else:
            await bot.requests.kill(first.conversation, "900", "kill-1")
        await wait_until(lambda: bot.store.ended(first), description="it has ended")
        assert time.monotonic() - begun < 1.0
        released.set()
        await wait_until(lambda: not speech.stragglers, description="it has given in")
