"""`wait_until`, on which every asynchronous test leans."""

import asyncio

import pytest

from tests.waiting import wait_until


async def test_the_first_true_answer_is_returned() -> None:
    """A plain predicate is asked again until its answer is true, and that answer comes back."""
    answers = iter(["", None, "here"])
    assert await wait_until(lambda: next(answers), description="it is here") == "here"


async def test_a_coroutine_function_is_awaited() -> None:
    """A predicate may be a coroutine function."""
    asked: list[int] = []

    async def twice() -> bool:
        await asyncio.sleep(0)
        asked.append(1)
        return len(asked) > 1

    assert await wait_until(twice, description="it was asked twice")
    assert len(asked) == 2


async def test_the_failure_names_what_was_awaited() -> None:
    """When the time runs out the test fails with the description and the last answer."""
    with pytest.raises(AssertionError, match=r"until pigs fly.*the answer was 0"):
        await wait_until(lambda: 0, timeout=0.02, description="pigs fly")


async def test_a_predicate_that_hangs_is_cut_off() -> None:
    """The time limit bounds the predicate itself."""
    with pytest.raises(AssertionError, match="until the event comes"):
        await wait_until(asyncio.Event().wait, timeout=0.02, description="the event comes")


async def test_an_error_of_the_predicate_is_not_hidden() -> None:
    """A predicate's own TimeoutError is told as such, not as a wait that ran out."""

    def broken() -> bool:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        await wait_until(broken, description="never")
