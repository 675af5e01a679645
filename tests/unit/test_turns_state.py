"""State with versions, and checkpoints of it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.endings import Ending
from bot.responders import Turn
from bot.speaking import Rejected
from state.ids import PAYLOAD_LIMIT
from tests.unit.fake_process import Respond, Script, hurry, running
from tests.unit.fake_store import Store
from tests.unit.fakes import message
from tests.unit.replays import ask, replayed
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


class Versioned:
    """A responder whose state has a version."""

    def __init__(self, version: int, change: Callable[[Turn], object]) -> None:
        self.state_version = version
        self._change = change

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Change the state, and say what it has become."""
        self._change(turn)
        yield repr(turn.state)


class Migrating(Versioned):
    """One that can read the versions before."""

    def migrate(self, state: Any, version: int) -> Any:  # noqa: ANN401 (the author's own JSON)
        """Put a list around what was a single thing."""
        return [f"from {version}", state]


def becomes(state: object) -> Callable[[Turn], object]:
    """Set the state to this."""
    return lambda turn: setattr(turn, "state", state)


def stays(_: Turn) -> None:
    """Leave the state alone."""


async def stored(store: Store, cog: str = "Script") -> object:
    """Answer the state that is kept for a cog, and its version; None if nothing is."""
    (record,) = store.database.records.values()
    kept = json.loads(record.state or b"{}").get(cog)
    return kept and (kept["state"], kept["version"])


# ----------------------------------------------------------------------------------------- versions


async def test_an_earlier_state_is_migrated_and_kept_in_its_new_form() -> None:
    """Once: the next turn finds what the migration has made of it."""
    store = Store()
    async with running(Versioned(1, becomes("a")), store=store) as bot:
        await ask(bot)
    async with running(Migrating(3, stays), store=store) as bot:
        first, second = await ask(bot), await ask(bot, "b")
        assert bot.discord.replies(first) == ["['from 1', 'a']"]
        assert bot.discord.replies(second) == ["['from 1', 'a']"]
    assert await stored(store) == (["from 1", "a"], 3)


@pytest.mark.parametrize(
    ("responder", "told"),
    [
        (Migrating(1, stays), "of version 2, and this Script reads 1"),
        (Versioned(3, stays), "of version 2, and Script, which writes 3, has no migrate"),
    ],
    ids=["newer", "no migration"],
)
async def test_a_state_that_cannot_be_read_fails_the_turn_and_loses_nothing(
    responder: Versioned, told: str
) -> None:
    """As after a roll-back: one clear line, and a message that can be tried again."""
    store = Store()
    async with running(Versioned(2, becomes("precious")), store=store) as bot:
        await ask(bot)
    async with running(responder, store=store) as bot:
        asked = await ask(bot, "b")
        assert store.ended(asked) == ["dead-lettered"]
    (letter,) = (await store.port.dead_letters("guild/301")).letters
    assert told in letter.error
    assert "\n" not in letter.error
    assert await stored(store) == ("precious", 2)


async def test_a_migration_that_raises_fails_its_turn() -> None:
    """And leaves the state for a better one."""

    class Bad(Versioned):
        def migrate(self, state: object, version: int) -> object:
            raise KeyError("items")

    store = Store()
    async with running(Versioned(1, becomes("a")), store=store) as bot:
        await ask(bot)
    async with running(Bad(2, stays), store=store) as bot:
        asked = await ask(bot, "b")
        assert store.ended(asked) == ["dead-lettered"]
    assert await stored(store) == ("a", 1)


async def test_each_cog_that_speaks_in_a_conversation_has_a_state_of_its_own() -> None:
    """A timer's or a command's turn neither sees nor touches what another cog keeps there."""
    store = Store()
    async with running(Versioned(2, becomes("mine")), store=store) as bot:
        await ask(bot)
    other = Versioned(1, becomes("another's"))
    async with running(other, store=store) as bot:
        bot.conversations.equip(
            lambda asked: replace(bot.tools(asked), responder=lambda _name: other)
        )
        asked = await ask(bot, "b", responder="Other")
        assert store.ended(asked) == ["answered"]
    assert await stored(store) == ("mine", 2)
    assert await stored(store, "Other") == ("another's", 1)


async def test_a_state_that_becomes_none_is_gone() -> None:
    """Nothing of it is left in the store."""
    store = Store()
    async with running(Versioned(1, becomes("a")), store=store) as bot:
        await ask(bot)
    async with running(Versioned(1, becomes(None)), store=store) as bot:
        await ask(bot)
    assert await stored(store) is None


async def large(turn: Turn) -> AsyncGenerator[str, None]:
    """Keep more than the store takes, at the end."""
    turn.state = "x" * PAYLOAD_LIMIT
    yield "all is well"


async def large_now(turn: Turn) -> AsyncGenerator[str, None]:
    """Keep it at once."""
    turn.state = "x" * PAYLOAD_LIMIT
    await turn.checkpoint()
    yield "unreachable"


@pytest.mark.parametrize("respond", [large, large_now])
async def test_a_state_that_is_too_large_fails_its_turn_before_it_looks_well(
    respond: Respond,
) -> None:
    """Not the store's commit, after which nobody could say so any more."""
    async with running(Script(respond)) as bot:
        asked = await ask(bot)
        assert bot.store.ended(asked) == ["dead-lettered"]
        (letter,) = (await bot.store.port.dead_letters("guild/301")).letters
        assert "bytes of JSON" in letter.error


# -------------------------------------------------------------------------------------- checkpoints


async def two_thirds(turn: Turn) -> AsyncGenerator[str, None]:
    """Keep one change, make another, and never end."""
    turn.state = [*(turn.state or []), "kept"]
    await turn.checkpoint()
    turn.state = [*turn.state, "not kept"]
    yield "half"
    await asyncio.Event().wait()


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED])
async def test_a_checkpoint_lands_though_the_turn_is_ended(ending: Ending) -> None:
    """What was changed after it does not."""
    async with running(Script(two_thirds)) as bot:
        await bot.hears(asked := message(age=1))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.locks.cancel(asked.id, ending)
        await bot.settles()
        assert await stored(bot.store) == (["kept"], 1)


async def test_a_turn_that_replaces_another_goes_on_from_its_checkpoint() -> None:
    """And keeps it, as if it had made it itself."""
    async with running(Script(two_thirds)) as bot:
        await bot.hears(message(age=2))
        await wait_until(bot.discord.visible, description="it has begun")
        await bot.hears(second := message("b", age=1))
        await wait_until(lambda: len(bot.discord.visible()) == 2, description="it goes on")
        bot.locks.cancel(second.id, Ending.STOPPED)
        await bot.settles()
        assert await stored(bot.store) == (["kept", "kept"], 1)


async def test_a_checkpoint_of_a_replaced_turn_lands_with_the_one_that_finishes() -> None:
    """Though that one changes nothing."""
    found: list[object] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        found.append(turn.state)
        if turn.interrupted is None:
            async for chunk in two_thirds(turn):
                yield chunk
        yield f"instead of {turn.interrupted and turn.interrupted.ending}"

    async with running(Script(respond)) as bot:
        await bot.hears(message(age=2))
        await wait_until(bot.discord.visible, description="it has begun")
        await bot.hears(second := message("b", age=1))
        await bot.settles()
        assert bot.discord.replies(second) == ["instead of superseded"]
        assert found == [None, ["kept"]]
        assert await stored(bot.store) == (["kept"], 1)


async def counting(turn: Turn) -> AsyncGenerator[str, None]:
    """Count one up, and keep it."""
    turn.state = (turn.state or 0) + 1
    await turn.checkpoint()
    yield f"{turn.state}"


async def test_a_replay_makes_its_checkpoint_once() -> None:
    """It begins with the state of before the turn, and comes to the same."""
    store, discord = await replayed(counting, counting)
    assert discord.visible() == ["1"]
    assert await stored(store) == (1, 1)


async def test_a_replay_sees_the_state_that_its_forerunner_has_kept() -> None:
    """Though it would have come to another by itself."""

    def says(state: str) -> Respond:
        async def respond(turn: Turn) -> AsyncGenerator[str, None]:
            turn.state = state
            await turn.checkpoint()
            yield f"{turn.state}"

        return respond

    store, discord = await replayed(says("first"), says("second"))
    assert discord.visible() == ["first"]
    assert await stored(store) == ("first", 1)


async def test_a_turn_that_is_given_up_leaves_the_state_as_it_was() -> None:
    """Its dead letter can be tried again from there."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        turn.state = "kept"
        await turn.checkpoint()
        yield "x"
        raise Rejected(400, 1, "a bug")

    async with running(Script(respond)) as bot:
        await ask(bot)
        assert await stored(bot.store) is None
