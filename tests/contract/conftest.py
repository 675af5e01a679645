"""The suite's fixtures, with a database of each adapter in turn."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from state.contract.factory import FileFactory, MemoryFactory, PrefixFactory, StateFactory
from state.contract.fixtures import clock, one, two

__all__ = ["clock", "one", "state_contract", "two"]


@pytest.fixture(params=["memory", "sqlite", "redis"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> StateFactory:
    """Choose a database; the Redis server starts with the first test that wants it."""
    match request.param:
        case "memory":
            return MemoryFactory()
        case "sqlite":
            return FileFactory(f"sqlite:{tmp_path / 'state.db'}")
        case _:
            url: str = request.getfixturevalue("redis_url")
            return PrefixFactory(url, request.getfixturevalue("redis_prefix"))


@pytest.fixture
async def state_contract(database: StateFactory) -> AsyncIterator[StateFactory]:
    """Give one throw-away database of each adapter."""
    yield database
    await database.clean()
