"""The checks that a test leaves nothing behind can fail."""

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]

# Each leaks one thing; the key says how the check complains of it.
LEAKS = {
    r"tasks still run: .*Event\.wait": """
        import asyncio
        async def test_task():
            asyncio.ensure_future(asyncio.Event().wait())
    """,
    r"still open: {\d+: 'socket:": """
        import socket
        KEPT = []
        async def test_socket():
            KEPT.append(socket.socket())
    """,
    r"still open: {\d+: '.*/kept'}": """
        KEPT = []
        def test_file(tmp_path):
            KEPT.append((tmp_path / "kept").open("w"))
    """,
    r"ResourceWarning: unclosed <socket": """
        import socket
        def test_unclosed():
            socket.socket()
    """,
    r"temporary files stayed: .*left-here": """
        import tempfile
        def test_temporary():
            tempfile.mkdtemp("left-here")
    """,
    r"keys without a time to live stayed: \['t\w+:stays'\]": """
        import redis
        def test_key(redis_url, redis_prefix, no_leftover_keys):
            no_leftover_keys.allow("*:allowed")
            with redis.Redis.from_url(redis_url) as client:
                client.set(redis_prefix + ":passes", "1", ex=60)
                client.set(redis_prefix + ":allowed", "1")
                client.set(redis_prefix + ":stays", "1")
    """,
}

CLEAN = """
    import asyncio, socket, tempfile
    async def test_clean():
        with socket.socket(), tempfile.TemporaryFile():
            await asyncio.create_task(asyncio.sleep(0))
"""


def test_each_kind_of_leftover_is_told(pytester: pytest.Pytester) -> None:
    """A test that leaves a task, a socket, a file or a key behind fails and names it."""
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text())
    for number, source in enumerate([*LEAKS.values(), CLEAN]):
        pytester.makepyfile(**{f"test_{number}": source})
    result = pytester.runpytest_subprocess(
        f"--config-file={ROOT / 'pyproject.toml'}",
        f"--override-ini=pythonpath={ROOT}",
        f"--rootdir={pytester.path}",
        pytester.path,
    )
    told = str(result.stdout)
    assert [complaint for complaint in LEAKS if not re.search(complaint, told)] == []
    # An unclosed socket fails the test's call; the other five are errors of its tear-down.
    result.assert_outcomes(passed=6, errors=5, failed=1)
