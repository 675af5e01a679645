"""The bot's core as real processes, killed with -9 and frozen, over SQLite and a real Redis."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
    assert proof["given up after five deaths"] < proof["messages"] / 100
    assert proof["effects repeated under their key"] > 0


@pytest.mark.timeout(300)
def test_without_nonces_messages_are_said_twice() -> None:
    """The control: the same kills show duplicates once the nonce is not heeded."""
    proof = kill("--without-nonces")
    assert proof["messages shown twice"] > 0
