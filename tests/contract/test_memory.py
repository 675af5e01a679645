"""Every promise of the port, over the memory adapter."""

import pytest

from state.contract import checks
from state.contract.factory import MemoryFactory

globals().update(checks())


@pytest.fixture
def state_contract() -> MemoryFactory:
    """Give a database in memory."""
    return MemoryFactory()
