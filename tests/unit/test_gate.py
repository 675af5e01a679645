"""The gate: one at a time and in order, per key."""

import asyncio

import pytest

from bot.gate import Gate
from tests.waiting import wait_until


async def test_those_who_come_to_one_key_pass_one_at_a_time_in_their_order() -> None:
    """Each waits for the one before to leave, however long that one takes."""
    gate, passed, inside = Gate(), list[int](), 0

    async def pass_through(number: int) -> None:
        nonlocal inside
        async with gate.through("a"):
            inside += 1
            assert inside == 1
            for _ in range(5 - number):  # the first takes longest
                await asyncio.sleep(0)
            passed.append(number)
            inside -= 1

    await asyncio.gather(*(pass_through(number) for number in range(5)))
    assert passed == [0, 1, 2, 3, 4]


async def test_keys_do_not_wait_for_each_other() -> None:
    """A conversation whose store call hangs holds up no other."""
    gate = Gate()
    async with gate.through("a"):
        async with asyncio.timeout(1):
            async with gate.through("b"):
                assert len(gate) == 2


async def test_an_error_inside_lets_the_next_one_in() -> None:
    """Whoever fails inside leaves like anybody else, and the error is theirs."""
    gate = Gate()
    with pytest.raises(ZeroDivisionError):
        async with gate.through("a"):
            raise ZeroDivisionError
    async with asyncio.timeout(1):
        async with gate.through("a"):
            pass


async def test_who_gives_up_waiting_lets_those_behind_pass() -> None:
    """A cancelled event takes nobody's turn away."""
    gate, entered, leave = Gate(), list[str](), asyncio.Event()

    async def pass_through(name: str) -> None:
        async with gate.through("a"):
            entered.append(name)
            await leave.wait()

    first, second, third = (asyncio.create_task(pass_through(n)) for n in ("1", "2", "3"))
    await wait_until(lambda: entered, description="the first is inside")
    second.cancel()
    await asyncio.wait({second})
    leave.set()
    await asyncio.gather(first, third)
    assert entered == ["1", "3"]


async def test_a_gate_that_nobody_uses_keeps_nothing() -> None:
    """Keys are forgotten with their last user, or every channel ever seen would stay."""
    gate = Gate()
    for key in ("a", "b"):
        async with gate.through(key):
            assert len(gate) == 1
    assert len(gate) == 0
