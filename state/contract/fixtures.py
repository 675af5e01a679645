"""The fixtures of the suite; whoever runs it another way replaces `state_contract` alone."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from state import State
from state.contract.factory import Clock, StateFactory, named_factory
from state.contract.faults import Faults


@pytest_asyncio.fixture
async def state_contract() -> AsyncIterator[StateFactory]:
    """Give one throw-away database, as the environment names it."""
    factory = named_factory()
    yield factory
    await factory.clean()


@pytest.fixture
def clock() -> Clock:
    """Give the clock that moves every handle of the test."""
    return Clock()


@pytest.fixture
def faults(state_contract: StateFactory) -> Faults:
    """Give power over the test's database, as far as its factory offers any."""
    return getattr(state_contract, "faults", None) or Faults()


@pytest_asyncio.fixture
async def one(state_contract: StateFactory, clock: Clock) -> AsyncIterator[State]:
    """Give an open handle on the test's database: the first process."""
    state = state_contract.make(clock)
    await state.open()
    yield state
    await state.close()


@pytest_asyncio.fixture
async def two(state_contract: StateFactory, clock: Clock) -> AsyncIterator[State]:
    """Give another open handle on the same database: the second process."""
    state = state_contract.make(clock)
    await state.open()
    yield state
    await state.close()
