"""Faults in opening and closing."""

from state.contract.broken.planted import caught_by
from state.errors import StateUnavailable
from state.memory import MemoryState


@caught_by("test_use_before_opening_is_an_error_that_says_so")
class OpensItself(MemoryState):
    """A handle that was not opened, or was closed, works all the same."""

    def _now(self) -> int:
        return int(self._clock() * 1e6)


@caught_by("test_closing_twice_is_closing")
class ClosesOnce(MemoryState):
    """A second close is an error."""

    async def close(self) -> None:
        """Close what is open."""
        if not self._open:
            raise StateUnavailable("the state is not open")
        await super().close()


@caught_by("test_opening_twice_is_opening")
class OpensOnce(MemoryState):
    """A second open is an error."""

    async def open(self) -> None:
        """Open what is closed."""
        if self._open:
            raise StateUnavailable("the state is open already")
        await super().open()
