"""Where each broken adapter is kept, with the tests that must catch it."""

from collections.abc import Callable

from state.memory import MemoryState

#: Broken adapters, each with the names of the tests that must fail over it.
FAULTS: dict[type[MemoryState], frozenset[str]] = {}

Broken = type[MemoryState]


def caught_by(*tests: str) -> Callable[[Broken], Broken]:
    """Keep the decorated adapter in `FAULTS`, to be caught by exactly these *tests*."""

    def keep(adapter: Broken) -> Broken:
        FAULTS[adapter] = frozenset(tests)
        return adapter

    return keep
