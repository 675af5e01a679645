"""The state port in memory: the specification that runs, and the store of `memory:`."""

from state.memory.adapter import MemoryState
from state.memory.handle import Database

__all__ = ["Database", "MemoryState"]
