"""The typing indicator: there soon, kept alive, gone before the last word."""

import asyncio
import time
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from bot import delivery
from bot import typing_indicator as module
from bot.endings import Ending
from bot.speaking import NotSpeaking, Rejected, Unreachable
from bot.typing_indicator import TypingIndicator
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import CHANNEL, Fault, speaking
from tests.waiting import wait_until


@pytest.fixture
async def turn() -> HeldTurn:
    """Give a turn."""
    return await HeldTurn().begin()


@pytest.fixture
async def indicator(
    monkeypatch: pytest.MonkeyPatch, turn: HeldTurn
) -> AsyncIterator[TypingIndicator]:
    """Give the indicator of that turn, a hundred times faster."""
    monkeypatch.setattr(module, "FIRST_AFTER", 0.003)
    monkeypatch.setattr(module, "EVERY", 0.02)
    with speaking(turn.holding):
        indicator = TypingIndicator(turn.wire, CHANNEL, turn.holding)
        yield indicator
        await indicator.stop()


async def test_it_is_shown_again_before_it_would_go_out(
    turn: HeldTurn, indicator: TypingIndicator
) -> None:
    """For as long as the turn runs."""
    await wait_until(lambda: len(turn.discord.asked("type")) > 4, description="it is kept alive")
    times = [request.at for request in turn.discord.asked("type")]
    assert all(after - before >= 0.019 for before, after in pairwise(times))


def test_its_times_suit_discord_and_people() -> None:
    """Within a second of the start, unless text is there sooner; then before its ten are over."""
    assert delivery.GATHER < module.FIRST_AFTER < 1.0
    assert module.EVERY < 10.0


async def test_once_stopped_it_is_never_shown_again(
    turn: HeldTurn, indicator: TypingIndicator
) -> None:
    """Not even by a request that is on its way: it would hang on below the finished reply."""
    turn.discord.next("type", Fault(hold=asyncio.Event()))
    await wait_until(lambda: turn.discord.asked("type"), description="it is asked for")
    await indicator.stop()
    await indicator.stop()
    await asyncio.sleep(0.03)
    assert len(turn.discord.asked("type")) == 1


async def test_a_reply_that_is_there_at_once_shows_none(turn: HeldTurn) -> None:
    """It would last ten seconds longer than anything is typed."""
    indicator = TypingIndicator(turn.wire, CHANNEL, turn.holding)
    await indicator.stop()
    assert turn.discord.requests == []


async def test_a_bad_moment_of_discord_does_not_end_it(
    turn: HeldTurn, indicator: TypingIndicator
) -> None:
    """However often: it comes back when Discord does."""
    turn.discord.next("type", *(Unreachable("503") for _ in range(4)))
    await wait_until(lambda: len(turn.discord.asked("type")) > 5, description="it goes on")


async def test_two_refusals_end_it_and_not_the_turn(
    turn: HeldTurn, indicator: TypingIndicator
) -> None:
    """A right that is missing does not appear by asking again."""
    turn.discord.plan = lambda _number, _method: Fault(Rejected(403, 50013))
    await wait_until(indicator._task.done, description="it has given up")
    assert len(turn.discord.asked("type")) == 2
    assert turn.holding.reason is None


@pytest.mark.parametrize("how", ["lost", "deadline", "refused by the line"])
async def test_it_ends_with_the_right_to_speak(
    turn: HeldTurn, indicator: TypingIndicator, how: str
) -> None:
    """Whoever holds the lease then shows one of their own."""
    await wait_until(lambda: turn.discord.asked("type"), description="it is shown")
    if how == "lost":
        turn.holding.cancel(Ending.LOST)
    elif how == "deadline":
        turn.holding.deadline = time.monotonic()
    else:
        turn.discord.next("type", NotSpeaking())
    await wait_until(indicator._task.done, description="it has ended")
