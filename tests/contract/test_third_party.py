"""The suite as others use it: over an adapter and from a folder that this project does not know."""

import asyncio
import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

import state
from state.contract import checks
from state.contract.factory import Clock, named_factory
from state.contract.scene import begin, message

#: Where `state` lies, whether it is installed or not.
SOURCES = Path(state.__file__).parents[1]

#: An adapter of somebody else's, after the sketch in the docstring of `state.contract`.
ADAPTER = """
from state.memory import Database, MemoryState

class MyState(MemoryState):
    pass

class OneDatabase:
    def __init__(self):
        self.database = Database()

    def make(self, clock):
        return MyState(self.database, clock)

    async def clean(self):
        with open("cleaned", "a") as file:
            file.write("x")
"""


def test_the_documented_command_certifies_an_adapter(tmp_path: Path) -> None:
    """Every test runs over it, under no configuration of ours, each on a database of its own."""
    (tmp_path / "my_adapter.py").write_text(ADAPTER)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    # Only the plugin that the suite needs: others that are installed here would not be there.
    options = ["-q", "-c", "pytest.ini", "-p", "no:cacheprovider", "-p", "pytest_asyncio.plugin"]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--pyargs", "state.contract", *options],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(SOURCES)]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "STATE_FACTORY": "my_adapter:OneDatabase",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    # What needs power over the store is left out, since this factory offers none.
    count = re.search(r"^(\d+) passed, (\d+) skipped", found.stdout, re.MULTILINE)
    assert count, found.stdout
    passed, skipped = map(int, count.groups())
    needing = [check for check in checks().values() if "faults" in signature(check).parameters]
    assert (passed, skipped) == (len(checks()) - len(needing), len(needing))
    assert len((tmp_path / "cleaned").read_text()) == len(checks())


@pytest.mark.parametrize(
    "url", ["memory:", "sqlite:{folder}/state.db", "sqlite://{folder}/state.db"]
)
def test_an_address_gives_each_test_its_own_database(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two handles share it, the next test's is empty, and nothing is left of it."""
    monkeypatch.setenv("STATE_URL", url.format(folder=tmp_path))

    async def one_test() -> None:
        factory, clock = named_factory(), Clock()
        one, two = factory.make(clock), factory.make(clock)
        await one.open()
        await two.open()
        lease = (await begin(one, message("m1"))).lease
        assert await two.record(lease, "a", "b", b"c") == b"c"
        await one.close()
        await two.close()
        await factory.clean()

    asyncio.run(one_test())
    asyncio.run(one_test())
    assert list(tmp_path.iterdir()) == []
