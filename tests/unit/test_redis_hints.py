"""Hints over Redis: heard by every process, and heard again after an outage."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import redis

from state.redis import RedisState, hints
from state.values import Claim, Conversation, Could, Inbound, Policy, Signal, SignalKind
from tests.redis_server import RedisServer
from tests.waiting import wait_until

HERE = Conversation("guild/1", "10")


@pytest.fixture
async def pair(redis_url: str, redis_prefix: str) -> AsyncIterator[tuple[RedisState, RedisState]]:
    """Give two processes' handles on one store."""
    both = RedisState(redis_url, prefix=redis_prefix), RedisState(redis_url, prefix=redis_prefix)
    for state in both:
        await state.open()
    yield both
    for state in both:
        await state.close()


class Listening:
    """Collects what one handle hears."""

    def __init__(self, state: RedisState) -> None:
        self.heard: list[Signal] = []
        self._state = state
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async with aclosing(self._state.hints()) as signals:
            async for signal in signals:
                self.heard.append(signal)

    async def stop(self) -> None:
        """End it."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def start_turn(state: RedisState) -> None:
    """Let a turn run that can be signalled."""
    inbound = Inbound("m1", "ann", b"hello")
    claim = Claim(30.0)
    await state.admit(HERE, inbound, Could(trigger=True), Policy(), op="op1", claim=claim)


async def signal_until_heard(state: RedisState, listening: Listening) -> None:
    """Signal again and again, since nobody tells when the listener's connection stands."""
    heard = len(listening.heard)

    async def hint() -> bool:
        op = f"op{asyncio.get_running_loop().time()}"
        await state.signal(HERE, "m1", SignalKind.SUPERSEDE, by="é ann", op=op)
        return len(listening.heard) > heard

    await wait_until(hint, description="the hint is heard")


async def test_a_hint_reaches_another_process(pair: tuple[RedisState, RedisState]) -> None:
    """It names conversation, turn, kind and who asked."""
    one, two = pair
    await start_turn(one)
    listening = Listening(two)
    await signal_until_heard(one, listening)
    assert listening.heard[0] == Signal(HERE, "m1", SignalKind.SUPERSEDE, "é ann")
    await listening.stop()


async def test_hints_are_heard_again_after_the_connection_was_cut(
    pair: tuple[RedisState, RedisState], redis_server: RedisServer
) -> None:
    """The iterator survives; what was missed meanwhile `renew` and `due` tell."""
    one, two = pair
    await start_turn(one)
    listening = Listening(two)
    await signal_until_heard(one, listening)
    with redis.Redis.from_url(redis_server.socket_url) as client:
        client.client_kill_filter(_type="pubsub")
    await signal_until_heard(one, listening)
    await listening.stop()


async def test_a_connection_that_falls_silent_is_replaced(
    pair: tuple[RedisState, RedisState], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listener that no longer hears itself connects anew: half-open looks like quiet."""
    monkeypatch.setattr(hints, "BEAT", 0.02)
    monkeypatch.setattr(hints, "SILENCE", 0.1)
    one, two = pair
    await start_turn(one)
    listening = Listening(two)
    await signal_until_heard(one, listening)
    (listener,) = two._listeners
    before = listener._connection
    listener._beat = "somewhere else"
    await wait_until(
        lambda: listener._connection not in (before, None),
        description="another connection is made",
    )
    await listening.stop()


async def test_closing_the_state_ends_its_listeners(pair: tuple[RedisState, RedisState]) -> None:
    """Nobody has to know who listens."""
    one, two = pair
    await start_turn(one)
    listening = Listening(two)
    await signal_until_heard(one, listening)
    await two.close()
    await asyncio.wait_for(listening._task, 2.0)
