"""Repeating a step of the store: for as long as it is safe, and no other error."""

import pytest

from bot import insist as module
from bot.insist import REPEAT_FOR, insist, new_op
from state.errors import LeaseLost, StateUnavailable
from state.ports import OP_WINDOW


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.001)


async def test_a_step_is_repeated_until_the_store_answers() -> None:
    """An outage of a moment is not noticed by whoever asked."""
    tries = 0

    async def step() -> str:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise StateUnavailable("gone for a moment")
        return "answer"

    assert await insist(step) == "answer"
    assert tries == 4


async def test_a_step_is_given_up_when_repeating_could_no_longer_be_safe() -> None:
    """The last error is raised once the time is over, and no later."""
    tries = 0

    async def step() -> str:
        nonlocal tries
        tries += 1
        raise StateUnavailable(f"try {tries}")

    with pytest.raises(StateUnavailable) as raised:
        await insist(step, seconds=0.01)
    assert 1 < tries <= 11
    assert str(raised.value) == f"try {tries}"


async def test_any_other_error_is_raised_at_once() -> None:
    """A lost lease does not come back by asking again."""
    tries = 0

    async def step() -> str:
        nonlocal tries
        tries += 1
        raise LeaseLost("another holder")

    with pytest.raises(LeaseLost):
        await insist(step)
    assert tries == 1


def test_repeats_end_long_before_the_store_forgets_the_first_answer() -> None:
    """A repeat after the window would be carried out a second time."""
    assert REPEAT_FOR <= OP_WINDOW / 3


def test_operation_ids_are_what_the_port_asks_for() -> None:
    """Each is new, of the allowed characters, with at least 96 random bits."""
    ops = {new_op() for _ in range(100)}
    assert len(ops) == 100
    assert all(op.isalnum() and len(op) * 4 >= 96 for op in ops)
