"""How much one person may ask a minute, and one owner a day."""

import pytest

from bot import rates as module
from bot.rates import Over, Quota, Rates
from state import State, connect


@pytest.fixture
async def state() -> State:
    """Open a store in which nobody has used anything."""
    opened = connect("memory:")
    await opened.open()
    return opened


async def test_who_is_over_a_limit_is_told_so_once_a_minute(state: State) -> None:
    """A person's minute is their own; an owner's day is everybody's there."""
    rates = Rates(state, lambda: Quota(2, 3))
    assert [await rates.over("ada", "guild/1") for _ in range(3)] == [None, None, Over.PERSON]
    assert rates.tell("ada", "guild/1", Over.PERSON)
    assert not rates.tell("ada", "guild/1", Over.PERSON)
    assert [await rates.over("bo", "guild/1") for _ in range(2)] == [None, Over.OWNER]
    assert rates.tell("bo", "guild/1", Over.OWNER)
    assert not rates.tell("bo", "guild/1", Over.OWNER)
    assert await rates.over("bo", "guild/2") is None


async def test_people_and_owners_heard_longest_ago_are_forgotten(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is remembered has a bound, whoever writes; who keeps writing is remembered."""
    monkeypatch.setattr(module, "REMEMBERED", 3)
    rates = Rates(state, lambda: Quota(2, 100))
    for number in range(20):
        await rates.over(f"person {number}", f"user/{number}")
        over = await rates.over("ada", "guild/1")
        assert over is (Over.PERSON if number > 1 else None)
    assert len(rates._people) == len(rates._owners) == 3
