"""What a turn keeps: its state, its steps, and what was said before it."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest

from bot.endings import Ending
from bot.responders import Turn
from bot.transcript import Said
from tests.unit.fake_process import Script, hurry, insist_for, running
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import ADA, BO, Fault, message
from tests.unit.replays import ask, replayed
from tests.waiting import PATIENCE, wait_until

Change = Callable[[Turn], None]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


# -------------------------------------------------------------------------------------------- state


async def counted(change: Change, *, again: int = 2) -> list[object]:
    """Answer the state that each of several turns has found, when each of them does *change*."""
    found: list[object] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        found.append(turn.state and dict(turn.state))
        change(turn)
        yield "done"

    async with running(Script(respond)) as bot:
        for _ in range(again):
            await ask(bot)
    return found


async def test_state_is_kept_from_turn_to_turn() -> None:
    """Assigned, it is there next time."""

    def change(turn: Turn) -> None:
        turn.state = {"turns": (turn.state or {"turns": 0})["turns"] + 1}

    assert await counted(change, again=3) == [None, {"turns": 1}, {"turns": 2}]


async def test_state_that_is_changed_in_place_is_kept_too() -> None:
    """Nobody has to remember to assign it again."""

    def change(turn: Turn) -> None:
        if turn.state is None:
            turn.state = {}
        turn.state[str(len(turn.state))] = True

    assert await counted(change, again=3) == [None, {"0": True}, {"0": True, "1": True}]


@pytest.mark.parametrize("ending", [e for e in Ending if e is not Ending.FINISHED])
async def test_state_lands_only_when_the_turn_finishes(ending: Ending) -> None:
    """What was cut short may be half a change."""
    found: list[object] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        found.append(turn.state)
        turn.state = "changed"
        yield "half"
        if len(found) == 1:
            await asyncio.Event().wait()

    async with running(Script(respond)) as bot:
        await bot.hears(asked := message(age=1))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.locks.cancel(asked.id, ending)
        await bot.settles()
        bot.store.clock.now += 16
        await ask(bot, "b")
        assert found[:2] == [None, None]


async def test_state_does_not_land_when_the_landing_of_the_reply_is_stopped() -> None:
    """The responder has come to its end, its turn has not."""
    found: list[object] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        found.append(turn.state)
        turn.state = "changed"
        yield "all of it"

    async with running(Script(respond)) as bot:
        bot.discord.next("create", Fault(hold=asyncio.Event()))
        await bot.hears(asked := message(age=1))
        await wait_until(lambda: bot.discord.asked("create"), description="it is landing")
        await asyncio.sleep(0.01)
        bot.locks.cancel(asked.id, Ending.STOPPED)
        await bot.settles()
        await ask(bot, "b")
        assert found == [None, None]


async def test_a_state_that_cannot_be_kept_fails_the_turn_that_made_it() -> None:
    """Before its reply looks complete; the next turn finds the state as it was."""
    found: list[object] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        found.append(turn.state)
        yield "an answer"
        turn.state = object() if len(found) == 1 else "fine"

    async with running(Script(respond)) as bot:
        bad = await ask(bot)
        good = await ask(bot, "b")
        assert found == [None, None]
        assert bot.store.ended(bad) == ["dead-lettered"]
        assert bot.store.ended(good) == ["answered"]
        assert all(shown != "an answer" for shown in bot.discord.replies(bad))


# -------------------------------------------------------------------------------------------- steps


async def test_a_replay_that_forgets_a_step_is_set_aside_naming_both_lists() -> None:
    """Its effect has happened, and the reply knows nothing of it."""

    async def first(turn: Turn) -> AsyncGenerator[str, None]:
        await turn.step("pay", lambda _key: asyncio.sleep(0, 1))
        yield "paid"

    async def second(turn: Turn) -> AsyncGenerator[str, None]:
        await turn.step("look", lambda _key: asyncio.sleep(0, 1))
        yield "looked"

    store, _ = await replayed(first, second)
    assert [outcome for _, outcome in store.endings] == ["dead-lettered"]
    (letter,) = (await store.port.dead_letters("guild/301")).letters
    assert "recorded steps [('look', '1'), ('pay', '1')]" in letter.error
    assert "asked for [('look', '1')]" in letter.error


async def test_a_replay_may_take_more_steps_than_its_forerunner() -> None:
    """It has come further."""

    async def first(turn: Turn) -> AsyncGenerator[str, None]:
        yield await turn.step("a", lambda _key: asyncio.sleep(0, "one"))

    async def second(turn: Turn) -> AsyncGenerator[str, None]:
        yield await turn.step("a", lambda _key: asyncio.sleep(0, "another"))
        yield await turn.step("b", lambda _key: asyncio.sleep(0, " and two"))

    store, discord = await replayed(first, second)
    assert discord.visible() == ["one and two"]
    assert [outcome for _, outcome in store.endings] == ["answered"]


async def test_a_turn_reads_what_was_said_before_it() -> None:
    """Oldest first, not counting itself; what cannot be told apart from now is not there."""
    read: list[list[Said]] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        read.append(await turn.history(3))
        yield f"to {turn.text}"

    async with running(Script(respond)) as bot:
        for text, author in (("a", ADA), ("b", BO), ("c", ADA)):
            await ask(bot, text, author=author)
    assert read[0] == []
    assert read[2] == [
        Said("bot", "to a", ending=Ending.FINISHED),
        Said("person", "b", BO),
        Said("bot", "to b", ending=Ending.FINISHED),
    ]


async def test_a_moments_outage_is_not_noticed_by_who_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A read is repeated like any step: it must not cost the turn its lease."""
    insist_for(monkeypatch, PATIENCE)
    store = Store()
    troubles = iter([Trouble.REFUSED] * 3)
    store.plan = lambda _number, name: next(troubles, None) if name == "history" else None

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield f"{len(await turn.history())} entries"

    async with running(Script(respond), store=store) as bot:
        asked = await ask(bot)
        assert bot.discord.replies(asked) == ["0 entries"]
        assert store.ended(asked) == ["answered"]
