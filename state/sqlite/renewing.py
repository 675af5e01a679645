"""Renewals, and what they tell of a file that was set back."""

from collections.abc import Sequence

from state.outcomes import Held, Lost
from state.ports import BEAT_WINDOW, WENT_BACK
from state.sqlite import steps
from state.sqlite.handle import Beat, Handle
from state.sqlite.transaction import Transaction
from state.values import Lease

#: The window in microseconds, as the store's clock counts.
BEAT_MICROSECONDS = int(BEAT_WINDOW * 1e6)


class Renewing(Handle):
    """The renewals of one file."""

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """See `State.renew`."""
        if not leases:
            return []
        answers, beat = await self._write(lambda tx: renew(tx, self._beat, leases, seconds))
        if beat.number < self._beat.number:
            self._happened = (WENT_BACK,)
        self._beat = beat
        return answers


def renew(
    tx: Transaction, beat: Beat, leases: Sequence[Lease], seconds: float
) -> tuple[list[Held | Lost], Beat]:
    """Renew all leases, unless the file has gone back: give them up then. Answer the next beat."""
    found = tx.execute("SELECT number FROM beat WHERE process = ?", (beat.process,)).fetchone()
    number = found[0] if found else 0
    # Half of the window, so that what was forgotten in time is not taken for lost.
    if number < beat.number and tx.now - beat.at < BEAT_MICROSECONDS / 2:
        for lease in leases:
            give_up(tx, lease)
        return [Lost() for _ in leases], Beat(beat.process)
    following = Beat(beat.process, max(number, beat.number) + 1, tx.now)
    tx.execute(
        "INSERT OR REPLACE INTO beat VALUES (?, ?, ?)",
        (following.process, following.number, following.at),
    )
    if found is None:
        tx.execute("DELETE FROM beat WHERE at < ?", (tx.now - BEAT_MICROSECONDS,))
    return [steps.renew(tx, lease, seconds) for lease in leases], following


def give_up(tx: Transaction, lease: Lease) -> None:
    """Take a lease from its holder; its turn is due, and no expiry is counted."""
    record = tx.find(lease.conversation)
    if record is not None and record.token == lease.token:
        record.expires = record.wake = tx.now
        record.token = None if record.turn is not None else record.token
        tx.store(record)
