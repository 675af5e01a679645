"""A caller that is cancelled at any await: the step ran once or not at all, and can be repeated."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    ROOMY,
    TRIGGER,
    begin,
    finish,
    ids,
    message,
    op,
    say,
    started,
    taken_over,
    turnover_of,
)
from state.outcomes import Placed, Turnover
from state.values import Changes, Conversation

pytestmark = pytest.mark.asyncio

T = TypeVar("T")

#: Turns of the event loop after which the caller goes away: before, within and after the step.
TURNS = range(16)


async def interrupted(turns: int, step: Callable[[], Awaitable[T]]) -> T:
    """Take *step*, cancel it after so many turns of the loop, then take it to its end."""
    task = asyncio.ensure_future(step())
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return await step()


async def test_an_interrupted_admit_is_repeated(one: State, two: State) -> None:
    """The message is in the inbox once, and the handle works on. Contract 74."""
    for turns in TURNS:
        home = Conversation("guild/1", f"c{turns}")
        await begin(two, message("m1"), at=home)
        answer = await interrupted(
            turns,
            partial(one.admit, home, message("m2"), TRIGGER, ROOMY, op=op(), claim=CLAIM),
        )
        assert answer == Placed(1), turns
        assert ids((await two.view(home)).waiting) == ["m2"], turns


async def test_an_interrupted_commit_is_repeated(one: State, two: State) -> None:
    """The next turn starts once, one line is in the transcript. Contract 74."""
    for turns in TURNS:
        home = Conversation("guild/1", f"c{turns}")
        lease = (await begin(one, message("m1"), at=home)).lease
        for waiting in ("m2", "m3"):
            await say(two, message(waiting), at=home)
        changes = Changes(transcript=(b"line",))
        answer = await interrupted(
            turns,
            partial(one.commit, lease, changes, op=op(), claim=CLAIM),
        )
        assert started(turnover_of(answer)).lease.turn == "m2", turns
        assert ids((await two.view(home)).waiting) == ["m3"], turns
        assert len(await two.history(home)) == 1, turns


async def test_an_interrupted_record_is_repeated(one: State, two: State, clock: Clock) -> None:
    """It is one step, and the lease holds still. Contract 74."""
    lease = (await begin(one, message("m1"))).lease
    for turns in TURNS:
        key = f"{turns}"
        answer = await interrupted(turns, partial(one.record, lease, "a", key, key.encode()))
        assert answer == key.encode()
    assert len((await taken_over(two, clock)).steps) == len(TURNS)


async def test_an_interrupted_reading_leaves_the_handle_in_order(one: State) -> None:
    """The next call gets its own answer, not the one that nobody waited for. Contract 74."""
    lease = (await begin(one, message("m1"))).lease
    for turns in TURNS:
        reading = asyncio.ensure_future(one.history(HERE))
        for _ in range(turns):
            await asyncio.sleep(0)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        assert await one.record(lease, "a", f"{turns}", b"own") == b"own"
    assert await finish(one, lease) == Turnover()
