"""A crash before and after every write of ten stories, and pairs of them, over each store."""

import pytest

from chaos.points.proofs import crashed_everywhere, everywhere
from chaos.points.scenarios import SCENARIOS
from chaos.simulation.ground import shared_ground
from chaos.simulation.planted.leases import AcknowledgesAtTheStart, LosesSteps
from state.memory import Database, MemoryState


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("store", "every"), [("memory", 5), ("sqlite", 25), ("redis", 25)])
def test_wherever_a_process_dies_the_story_ends_alike(store: str, every: int) -> None:
    """
    State, transcript, answers, dead letters, usage and what is visible are those of a clean run.

    After one crash no effect has run more than twice, always under one key; the pairs here are each
    so-many-th, `make chaos` tries all. Contract: crash and chaos.
    """
    proof = everywhere(store, every)
    assert proof.broken == []
    assert proof.figures["runs with one crash"] > 20 * len(SCENARIOS)
    assert proof.figures["runs with two crashes"] > 200
    assert proof.figures["most runs of an effect with one crash"] == 2


@pytest.mark.parametrize("broken", [AcknowledgesAtTheStart, LosesSteps])
def test_a_store_that_forgets_in_a_crash_is_noticed(broken: type[MemoryState]) -> None:
    """A rehearsal over a store that loses a message, or a step, ends otherwise."""
    with shared_ground("memory:") as ground:
        ground.state = broken(Database(1), lambda: ground.now)
        ground.drive(ground.state.open())
        proof = crashed_everywhere("memory", ground, every=100)
    assert proof.figures["runs that ended otherwise"] > 0
