"""Proof that the suite finds faults: each broken adapter fails the tests aimed at it, no others."""

import asyncio
import inspect
from collections.abc import Callable
from types import FunctionType

import pytest

from state import State
from state.contract import checks, test_hints
from state.contract.broken import FAULTS
from state.contract.factory import Clock
from state.contract.faults import MemoryFaults
from state.memory import Database, MemoryState

#: Seconds after which a test over a broken adapter counts as failed.
#: Relation: far above what any takes in memory, however busy the machine is.
PATIENCE = 10.0

#: Tests with a thousand conversations. They take as long as all others together, so they run only
#: over the faults that are aimed at them.
LONG = frozenset(
    {
        "test_a_thousand_leases_are_renewed_at_once",
        "test_many_followed_conversations_are_paged",
    }
)


class BrokenFactory:
    """A database in memory behind a broken adapter."""

    def __init__(self, adapter: type[MemoryState]) -> None:
        """Start empty."""
        self._adapter, self._database = adapter, Database()
        self.faults = MemoryFaults(self._database)

    def make(self, clock: Callable[[], float]) -> State:
        """Return one more handle."""
        return self._adapter(self._database, self.faults.clock(clock))

    async def clean(self) -> None:
        """Leave the rest to the garbage collector."""


async def failing(adapter: type[MemoryState], without: frozenset[str]) -> set[str]:
    """Run the suite over *adapter*, some tests left out; return the names of those that fail."""
    suite = {name: check for name, check in checks().items() if name not in without}
    return {name for name, check in suite.items() if not await passes(check, adapter)}


async def passes(check: FunctionType, adapter: type[MemoryState]) -> bool:
    """Run one test with fixtures as the suite's own; say whether it passes."""
    factory, clock = BrokenFactory(adapter), Clock()
    one, two = factory.make(clock), factory.make(clock)
    fixtures = {"state_contract": factory, "clock": clock, "one": one, "two": two}
    fixtures["faults"] = factory.faults
    wanted = {name: fixtures[name] for name in inspect.signature(check).parameters}
    for handle in (one, two):
        await handle.open()
    try:
        async with asyncio.timeout(PATIENCE):
            await check(**wanted)
    except pytest.skip.Exception:
        return True  # a fault that memory does not have
    # Whatever a fault makes of a test, the test has found it.
    except (Exception, pytest.fail.Exception):  # noqa: BLE001
        return False
    return True


async def test_the_suite_passes_over_the_sound_adapter() -> None:
    """The runner of this file agrees with pytest: without a fault no test fails."""
    assert await failing(MemoryState, frozenset()) == set()


@pytest.mark.parametrize("adapter", FAULTS, ids=lambda adapter: adapter.__name__)
async def test_a_planted_fault_is_found(
    adapter: type[MemoryState], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the tests that are aimed at it, so that a failure tells what is wrong."""
    # Only a fault in hints makes a test wait, and then for what never comes.
    monkeypatch.setattr(test_hints, "LISTENING_WITHIN", 0.5)
    aimed = FAULTS[adapter]
    assert sorted(await failing(adapter, LONG - aimed)) == sorted(aimed)
