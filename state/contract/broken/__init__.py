"""
Adapters that are broken on purpose: the memory adapter with one planted fault each.

A suite that passes over one of them is blind to that fault. `FAULTS` tells for each which tests
must fail over it, all of them and no others, so that a failure also says what is wrong.
"""

from state.contract.broken import (
    admission,
    commit,
    edits,
    failure,
    forgetting,
    gathering,
    gone_back,
    holding,
    keeping,
    leases,
    letters,
    lifecycle,
    outages,
    reading,
    repeats,
    room,
    shards,
    signals,
    stale,
    steps,
    timers,
    unreadable,
)
from state.contract.broken.planted import FAULTS

__all__ = [
    "FAULTS",
    "admission",
    "commit",
    "edits",
    "failure",
    "forgetting",
    "gathering",
    "gone_back",
    "holding",
    "keeping",
    "leases",
    "letters",
    "lifecycle",
    "outages",
    "reading",
    "repeats",
    "room",
    "shards",
    "signals",
    "stale",
    "steps",
    "timers",
    "unreadable",
]
