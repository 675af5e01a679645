"""The bot's core as real processes, killed with -9 and frozen, over SQLite and a real Redis."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chaos.kills.proofs import too_little
from chaos.kills.steps import LATELY, LEASE, LEASE_CALLS, LONGEST, Steps
from chaos.kills.verdict import Verdict

#: Kills over each of the two stores.
KILLS = 1_500

ROOT = Path(__file__).parents[2]


def kill(*arguments: str) -> dict[str, Any]:
    """
    Run `python -m chaos kill` and return its only proof.

    In a process of its own, since what forks must have no threads and no loop.
    """
    command = [sys.executable, "-m", "chaos", "kill", "--json", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    (proof,) = json.loads(done.stdout).values()
    assert done.returncode == (1 if proof["broken"] else 0)
    return dict(proof)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_nothing_is_lost_or_said_twice_over_thousands_of_kills(store: str) -> None:
    """
    Each message is committed once, in order, and answered visibly once; its lock was one.

    What processes recorded of their calls has an order in which each token is granted once and
    nobody else writes under it; the same calls with one token granted twice have none.
    """
    proof = kill("--store", store, "--kills", f"{KILLS}")
    assert proof["broken"] == []
    assert proof["processes killed"] == KILLS
    assert proof["processes frozen"] > 10
    assert store == "sqlite" or proof["Redis killed"] > 10
    assert proof["messages"] > KILLS
    assert proof["effects repeated under their key"] > 0
    assert proof["given up after five deaths"] < proof["messages"] / 100


@pytest.mark.timeout(300)
def test_without_nonces_messages_are_said_twice() -> None:
    """The control: the same kills show duplicates once the nonce is not heeded."""
    proof = kill("--without-nonces")
    assert proof["messages shown twice"] > 0


@pytest.mark.parametrize(
    ("answered", "given_up", "enough"), [(150, 3, True), (0, 80, False), (90, 10, False)]
)
def test_a_run_in_which_little_is_answered_proves_nothing(
    answered: int, given_up: int, *, enough: bool
) -> None:
    """Turns that die before their first step lose nothing, and the proof fails all the same."""
    verdict = Verdict(taken=answered + given_up, committed=answered + given_up, given_up=given_up)
    assert verdict.sound
    assert (not too_little(100, verdict)) == enough


def test_a_lease_is_as_long_as_the_machine_is_slow() -> None:
    """It lasts so many of the slow calls of late, within bounds."""
    steps = Steps()
    try:
        assert steps.heard(0.0) == 0
        assert steps.lease == LEASE
        for seconds in (0.001, 0.1, 0.2):
            steps.tell(seconds)
        assert steps.heard(0.0) == 3
        assert steps.lease == pytest.approx(0.2 * LEASE_CALLS)
        for _ in range(LATELY):
            steps.tell(3600.0)
        assert steps.heard(0.0) == LATELY
        assert steps.lease == LONGEST
    finally:
        steps.close()
