"""
Faults planted in the store or in the protocol, each of which the simulation must find.

`chaos/README.md` has the table of how soon each was found.
"""

from dataclasses import dataclass

from chaos.simulation.process import Process
from chaos.simulation.turn import TurnRun
from state.memory import MemoryState


@dataclass(frozen=True, slots=True)
class Planted:
    """What a schedule runs on: sound, but for one thing."""

    #: What is wrong, as a sentence.
    fault: str
    adapter: type[MemoryState] = MemoryState
    process: type[Process] = Process
    turn: type[TurnRun] = TurnRun
    #: Whether each process lends the store its own wall clock.
    skewed: bool = False


NOTHING = Planted("nothing is wrong")
