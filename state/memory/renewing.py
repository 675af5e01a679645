"""Renewals, and what they tell of a store that was set back."""

import secrets
from collections.abc import Callable, Sequence
from time import time

from state.errors import Gone, LeaseLost
from state.memory.handle import Database, Handle, forget
from state.outcomes import Held, Lost
from state.ports import BEAT_WINDOW, WENT_BACK
from state.values import Lease


class Renewing(Handle):
    """The renewals of a `Database`."""

    def __init__(self, database: Database | None = None, clock: Callable[[], float] = time) -> None:
        """Take a database to share with other handles, or make one."""
        super().__init__(database, clock)
        self._name = secrets.token_hex(8)
        #: How far this handle came with its renewals, and when that was (µs).
        self._beat = self._beaten = 0
        self._happened: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """See `State.notices`."""
        return super().notices + self._happened

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """See `State.renew`."""
        if leases and self._went_back():
            for lease in leases:
                self._give_up(lease)
        return [self._renew(lease, seconds) for lease in leases]

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        now = self._now()
        try:
            record = self._living(lease)
        except (LeaseLost, Gone):
            return Lost()
        turn = record.turn
        record.expires = record.wake = now + int(seconds * 1e6)
        return Held(turn.signal.kind, turn.signal.by) if turn and turn.signal else Held()

    def _went_back(self) -> bool:
        """Whether the database does not know how far this handle came; else come one further."""
        now, beats = self._now(), self._db.beats
        forget(beats, lambda beat: beat[1] < now - int(BEAT_WINDOW * 1e6))
        number, _ = beats.pop(self._name, (0, 0))
        # Half of the window, so that what was forgotten in time is not taken for lost.
        if number < self._beat and now - self._beaten < BEAT_WINDOW * 1e6 / 2:
            self._beat, self._happened = 0, (WENT_BACK,)
            return True
        self._beat, self._beaten = max(number, self._beat) + 1, now
        beats[self._name] = self._beat, now
        return False

    def _give_up(self, lease: Lease) -> None:
        """Take a lease from its holder; its turn is due, and no expiry is counted."""
        record = self._find(lease.conversation)
        if record is not None and record.token == lease.token:
            record.expires = record.wake = self._now()
            record.token = None if record.turn is not None else record.token
