"""
What the processes get done, told through a pipe to who kills them.

Kills that wait for steps and not for seconds find processes at work on any machine: a slow one has
fewer kills a second, not fewer steps a kill.
"""

import os
import select
import struct
from collections import deque
from contextlib import suppress

#: One step: the seconds that its call of the store took. Written whole or not at all.
_STEP = struct.Struct("d")

#: Most steps that are read at once.
_AT_ONCE = 512

#: Calls by which the machine is judged, and the part of them that counts as slow. Relation: more
#: than wait for one process that stands still.
LATELY, SLOW = 200, 0.1

#: Seconds of a lease at least and at most, and its life in slow calls. Relation: it outlives the
#: five calls of a turn on a busy machine too, and ends soon enough that most conversations speak
#: most of the time.
LEASE, LONGEST, LEASE_CALLS = 0.5, 10.0, 10


class Steps:
    """The pipe, which all processes inherit, and how long the latest steps took."""

    def __init__(self) -> None:
        """Open it; a step that finds it full is not told, since there are enough."""
        self._told, self._tells = os.pipe()
        for end in (self._told, self._tells):
            os.set_blocking(end, False)
        self._lately: deque[float] = deque(maxlen=LATELY)

    def close(self) -> None:
        """Close both ends here."""
        os.close(self._told)
        os.close(self._tells)

    def tell(self, seconds: float) -> None:
        """Tell that the store took a step, and how long its call was."""
        with suppress(BlockingIOError):
            os.write(self._tells, _STEP.pack(seconds))

    def heard(self, within: float) -> int:
        """Wait at most *within* seconds for steps; answer how many were told."""
        select.select([self._told], [], [], within)
        try:
            told = os.read(self._told, _AT_ONCE * _STEP.size)
        except BlockingIOError:
            return 0
        self._lately.extend(seconds for (seconds,) in _STEP.iter_unpack(told))
        return len(told) // _STEP.size

    @property
    def lease(self) -> float:
        """Seconds of a lease that suits the machine as it is just now."""
        slowest = sorted(self._lately, reverse=True)
        slow = slowest[int(len(slowest) * SLOW)] if slowest else 0.0
        return min(LONGEST, max(LEASE, LEASE_CALLS * slow))
