"""Every promise of the port, over a Redis Cluster of three servers."""

import os
import uuid
from collections.abc import Iterator

import pytest

from state.contract import checks
from state.contract.factory import PrefixFactory
from tests.redis_cluster import Cluster, running_cluster
from tests.redis_server import NoServerError, server_binary

globals().update(checks())


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[Cluster]:
    """Run one cluster for the whole suite; without a server that is skipped, but never in CI."""
    try:
        server_binary()
    except NoServerError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def state_contract(redis_cluster: Cluster) -> Iterator[PrefixFactory]:
    """Give a prefix whose keys go with the test, from every server."""
    prefix = f"t{uuid.uuid4().hex[:12]}"
    yield PrefixFactory(redis_cluster.url, prefix)
    redis_cluster.clear(prefix)
