"""Clusters that may be stirred up."""

from collections.abc import Iterator

import pytest

from tests.redis_cluster import Cluster, running_cluster


@pytest.fixture(scope="package")
def cluster(redis_server: object) -> Iterator[Cluster]:
    """Give a cluster of three servers whose slots may be moved."""
    with running_cluster() as running:
        yield running


@pytest.fixture
def mortal_cluster(redis_server: object) -> Iterator[Cluster]:
    """Give a cluster whose servers may be killed; the others serve on."""
    with running_cluster() as running:
        for server in running.servers:
            server.asked("CONFIG", "SET", "cluster-require-full-coverage", "no")
        yield running
