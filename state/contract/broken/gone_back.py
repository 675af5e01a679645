"""Faults in what becomes of leases when the store was set back."""

from collections.abc import Sequence

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.outcomes import Held, Lost
from state.values import Lease


@caught_by(
    "test_a_turn_whose_journal_went_back_is_begun_again",
    "test_all_leases_of_before_are_lost_and_later_ones_hold",
    "test_whoever_notices_tells_the_operator",
)
class NoticesNothing(MemoryState):
    """A lease that the restored copy knows is held, whatever was recorded under it since."""

    def _went_back(self) -> bool:
        return False


@caught_by(
    "test_a_turn_whose_journal_went_back_is_begun_again",
    "test_all_leases_of_before_are_lost_and_later_ones_hold",
)
class LosesInWordsOnly(MemoryState):
    """The holder is told that it lost, and its token goes on to be the living one."""

    def _give_up(self, lease: Lease) -> None:
        pass

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """Answer that all are lost."""
        told = self.notices
        answers = await super().renew(leases, seconds)
        return answers if self.notices == told else [Lost() for _ in leases]


@caught_by("test_a_process_that_rested_for_long_notices_nothing")
class TakesOblivionForLoss(MemoryState):
    """What the store forgot in time is taken for a restore."""

    def _went_back(self) -> bool:
        self._beaten = self._now()
        return super()._went_back()
