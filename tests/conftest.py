"""Fixtures for every test, and the checks that a test leaves nothing behind."""

import inspect
import os
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import redis

from tests.leftovers import Keyspace, leftover_descriptors, leftover_tasks, open_descriptors
from tests.redis_server import NoServerError, RedisServer, running_redis, server_binary

# -------------------------------------------------------------------------------------------- Redis


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """
    Run a real Redis for all tests of this session.

    Without one on this machine the tests that need it are skipped, but never in CI, where a green
    run has to mean that they passed.
    """
    try:
        server_binary()
    except NoServerError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    with running_redis() as server:
        yield server


@pytest.fixture(scope="session")
def redis_url(redis_server: RedisServer) -> str:
    """Give the shared server's address, database 0."""
    return redis_server.url


@pytest.fixture(scope="session")
def redis_socket_url(redis_server: RedisServer) -> str:
    """Give the shared server's address as a Unix socket, which is quicker than loopback."""
    return redis_server.socket_url


@pytest.fixture
def redis_keys(redis_server: RedisServer) -> Iterator[Keyspace]:
    """Give this test's part of the shared server, and delete it afterwards."""
    with redis.Redis.from_url(redis_server.socket_url) as client:
        keyspace = Keyspace(client, f"t{uuid.uuid4().hex[:12]}")
        yield keyspace
        keyspace.clear()


@pytest.fixture
def redis_prefix(redis_keys: Keyspace) -> str:
    """Give a key prefix that no other test has; its keys are deleted after the test."""
    return redis_keys.prefix


@pytest.fixture
def no_leftover_keys(redis_keys: Keyspace) -> Iterator[Keyspace]:
    """
    Fail the test when a key of its prefix would stay for ever.

    `no_leftover_keys.allow("*:counter")` lets the keys stay that are meant to.
    """
    yield redis_keys
    left = redis_keys.leftovers()
    assert not left, f"keys without a time to live stayed: {left}"


# --------------------------------------------------------------------------------- Discord's schema


@pytest.fixture(autouse=True)
def answers_fit_discords_schema() -> Iterator[None]:
    """
    Fail the test to which a sandbox of this process answers otherwise than Discord would.

    Nothing is loaded for the many tests that know no sandbox.
    """
    if "sandbox" not in sys.modules:
        yield
        return
    from tests.discord.schema.watch import watched  # noqa: PLC0415 - only here

    with watched() as answers:
        yield
    wrong = answers.unexpected()
    assert not wrong, "\n".join(["not as Discord answers:", *map(str, wrong)])


# ---------------------------------------------------------------------------------------- leftovers


@pytest.fixture(scope="session")
def temporary_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """
    Give the folder where temporary files go during this session, for subprocesses too.

    Its path is short, for a Unix socket's address holds about a hundred characters.
    """
    tmp_path_factory.getbasetemp()  # settled now, so that it does not lie in ours
    with (
        tempfile.TemporaryDirectory(prefix="interlock-") as root,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", root)
        patch.setattr(tempfile, "tempdir", root)
        yield Path(root)


@pytest.fixture(autouse=True)
def no_leftover_files(temporary_root: Path) -> Iterator[None]:
    """
    Fail the test when it leaves a socket, an open file or a temporary file.

    What a fixture of a wider scope opens belongs to that fixture: ask for it among the test's
    arguments, for what appears half-way through counts as the test's.
    """
    descriptors = open_descriptors()
    files = set(temporary_root.iterdir())
    yield
    left = leftover_descriptors(descriptors)
    assert not left, f"still open: {left}"
    stayed = set(temporary_root.iterdir()) - files
    assert not stayed, f"temporary files stayed: {sorted(map(str, stayed))}"


@pytest.fixture(autouse=True)
def no_leftover_tasks(no_leftover_files: None, request: pytest.FixtureRequest) -> None:
    """
    Fail an asynchronous test when a task that it started still runs after it.

    The files come first, hence are looked at last: after the loop and its own sockets are closed.
    """
    if inspect.iscoroutinefunction(getattr(request, "function", None)):
        request.getfixturevalue("_tasks_end")


@pytest.fixture
async def _tasks_end() -> AsyncIterator[None]:
    yield
    left = await leftover_tasks()
    assert not left, f"tasks still run: {left}"
