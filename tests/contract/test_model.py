"""
The adapters against the memory adapter, by random steps.

A small run belongs to every `make test` and is the same each time; MODEL=long looks for what nobody
has met yet.
"""

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from state.contract.broken.holding import StealsFromAnybody
from state.contract.broken.signals import LetsTheLastSignalWin
from state.contract.broken.steps import RecordsTheLast
from state.contract.factory import FileFactory, PrefixFactory, StateFactory
from state.memory import MemoryState
from tests.contract.agreement_beside import FullAgreement
from tests.contract.test_broken import BrokenFactory

QUIET = settings(
    deadline=None,
    database=None,
    print_blob=True,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
PROFILES = {
    "ci": settings(QUIET, max_examples=25, stateful_step_count=40, derandomize=True),
    "long": settings(QUIET, max_examples=5_000, stateful_step_count=80),
}
PROFILE = os.environ.get("MODEL", "ci")

# Seconds. A small run waits for the store some thousand times; a long one is ended by hand.
pytestmark = pytest.mark.timeout(300 if PROFILE == "ci" else 0)


def agree(make: Callable[[], StateFactory], profile: settings = PROFILES[PROFILE]) -> None:
    """Let the machine run against a fresh database of *make* for each example."""

    class Tried(FullAgreement):
        def __init__(self) -> None:
            super().__init__(make())

    run_state_machine_as_test(Tried, settings=profile)


def test_sqlite_agrees_with_the_memory_adapter(tmp_path: Path) -> None:
    """In each answer and in all that can be read, over repeats, stale leases and moved time."""
    agree(lambda: FileFactory(f"sqlite:{tmp_path / 'state.db'}"))


def test_redis_agrees_with_the_memory_adapter(redis_url: str, redis_prefix: str) -> None:
    """In each answer and in all that can be read, over repeats, stale leases and moved time."""
    names = itertools.count()
    agree(lambda: PrefixFactory(redis_url, f"{redis_prefix}-{next(names)}"))


@pytest.mark.parametrize("adapter", [RecordsTheLast, LetsTheLastSignalWin, StealsFromAnybody])
def test_the_model_test_finds_a_planted_fault(adapter: type[MemoryState]) -> None:
    """A machine that agrees with everything would prove nothing."""
    search = settings(PROFILES["ci"], max_examples=400, phases=[Phase.generate])
    with pytest.raises(AssertionError):
        agree(lambda: BrokenFactory(adapter), search)
