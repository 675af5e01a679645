"""Every promise of the port, over a real Redis."""

import pytest

from state.contract import checks
from state.contract.factory import PrefixFactory

globals().update(checks())


@pytest.fixture
def state_contract(redis_url: str, redis_prefix: str) -> PrefixFactory:
    """Give a prefix whose keys go with the test."""
    return PrefixFactory(redis_url, redis_prefix)
