"""A sandbox for each test."""

from collections.abc import AsyncIterator

import pytest

from sandbox import Sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """Give a Discord on this machine, without rate limits."""
    async with Sandbox(port=0) as running:
        yield running
