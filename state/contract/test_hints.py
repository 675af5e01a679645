"""Hints: a signal is published, so that its holder need not wait for a renewal."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from statistics import median

import pytest

from state import State
from state.contract.scene import (
    FOLLOW_UP,
    HERE,
    STOP_OWN,
    THERE,
    begin,
    finish,
    message,
    op,
    say,
)
from state.values import Signal, SignalKind

pytestmark = pytest.mark.asyncio


#: Seconds in which a hint is there when nothing is amiss.
HINT_WITHIN = 0.1
#: Seconds for a listener to be heard at all, connection and all.
LISTENING_WITHIN = 5.0


async def test_hints_reach_another_process(one: State, two: State) -> None:
    """At once, when all is well; half of them may be late on a busy machine. Contract 58."""
    delays: list[float] = []
    async with heard(two) as hints:
        await until_listening(one, hints)
        for n in range(3):
            lease = (await begin(one, message(f"m{n}"))).lease
            for kind in SignalKind:
                expected = Signal(HERE, lease.turn, kind, "bob")
                sent = time.monotonic()
                await one.signal(HERE, lease.turn, kind, by="bob", op=op())
                while await asyncio.wait_for(hints.get(), LISTENING_WITHIN) != expected:
                    pass
                delays.append(time.monotonic() - sent)
            await finish(one, lease)
    assert median(delays) < HINT_WITHIN, delays


async def test_every_way_to_ask_gives_a_hint(one: State, two: State) -> None:
    """Follow-up, stop phrase and kill publish as a signal does. Contract 58."""
    async with heard(two) as hints:
        await until_listening(one, hints)
        await begin(one, message("m1"))
        await say(one, message("m2"), could=FOLLOW_UP)
        await say(one, message("m3"), could=STOP_OWN)
        await one.kill(HERE, by="eve", op=op())
        expected = {
            Signal(HERE, "m1", SignalKind.SUPERSEDE, "ann"),
            Signal(HERE, "m1", SignalKind.STOP, "ann"),
            Signal(HERE, "m1", SignalKind.KILL, "eve"),
        }
        while expected:
            expected.discard(await asyncio.wait_for(hints.get(), LISTENING_WITHIN))


@asynccontextmanager
async def heard(state: State) -> AsyncIterator[asyncio.Queue[Signal]]:
    """Listen for hints until the block ends."""
    hints: asyncio.Queue[Signal] = asyncio.Queue()

    async def listen() -> None:
        async for hint in state.hints():
            hints.put_nowait(hint)

    listener = asyncio.create_task(listen())
    await asyncio.sleep(0)
    try:
        yield hints
    finally:
        listener.cancel()
        with suppress(asyncio.CancelledError):
            await listener


async def until_listening(state: State, hints: asyncio.Queue[Signal]) -> None:
    """
    Signal turns in a conversation nearby until a hint is heard.

    A listener tells nobody when it is ready, and what was published before it was is lost.
    """
    async with asyncio.timeout(LISTENING_WITHIN):
        for n in range(100_000):
            lease = (await begin(state, message(f"w{n}"), at=THERE)).lease
            await state.signal(THERE, lease.turn, SignalKind.STOP, by="bob", op=op())
            await finish(state, lease)
            with suppress(TimeoutError):
                return await asyncio.wait_for(drop(hints), HINT_WITHIN)
    raise AssertionError("no hint was ever heard")


async def drop(hints: asyncio.Queue[Signal]) -> None:
    """Wait for one hint."""
    await hints.get()
