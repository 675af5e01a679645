"""Make chosen requests of the bot go wrong."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count


@dataclass(slots=True)
class Fault:
    """
    Say which requests go wrong, how, and how often (`times = None`: until cleared).

    `path` is a glob on what follows the API's version; seconds for `latency` and `retry_after`, and
    for how long the fault is in force. With `lose_reply` the request is carried out and the
    connection cut without an answer; with `lose_request` it is cut before.
    """

    method: str = "*"
    path: str = "*"
    times: int | None = None
    seconds: float | None = None
    latency: float = 0.0
    status: int | None = None
    code: int = 0
    message: str | None = None
    retry_after: float | None = None
    everything: bool = False
    lose_reply: bool = False
    lose_request: bool = False
    id: int = field(default_factory=count(1).__next__)

    def matches(self, method: str, path: str) -> bool:
        """Tell whether this request is meant."""
        return self.method in ("*", method) and fnmatchcase(path, self.path)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Sum up what befalls one request. `answer` is the fault that answers in Discord's place."""

    latency: float = 0.0
    answer: Fault | None = None
    lose_reply: bool = False
    lose_request: bool = False

    @property
    def lost(self) -> bool:
        """Tell whether the bot is left without an answer."""
        return self.lose_reply or self.lose_request


class Faults:
    """Hold the faults in force, in the order in which they were added."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._added: list[tuple[float, Fault]] = []
        self._cleared = asyncio.Event()

    @property
    def active(self) -> list[Fault]:
        """List the faults in force."""
        now = self._clock()
        self._added = [
            (since, fault)
            for since, fault in self._added
            if (fault.times is None or fault.times > 0)
            and (fault.seconds is None or now - since < fault.seconds)
        ]
        return [fault for _, fault in self._added]

    def add(self, fault: Fault) -> None:
        """Put a fault in force."""
        self._added.append((self._clock(), fault))

    def clear(self) -> None:
        """Let every request succeed again, those that are held up too."""
        self._added.clear()
        self._cleared.set()
        self._cleared = asyncio.Event()

    async def hold_up(self, latency: float) -> None:
        """Wait so many seconds, or until the faults are cleared."""
        with suppress(TimeoutError):
            async with asyncio.timeout(latency):
                await self._cleared.wait()

    def strike(self, method: str, path: str) -> Trouble:
        """Use up one time of each fault that matches; latencies add up, the first answer wins."""
        struck = [fault for fault in self.active if fault.matches(method, path)]
        for fault in struck:
            if fault.times is not None:
                fault.times -= 1
        return Trouble(
            latency=sum(fault.latency for fault in struck),
            answer=next((fault for fault in struck if _answers(fault)), None),
            lose_reply=any(fault.lose_reply for fault in struck),
            lose_request=any(fault.lose_request for fault in struck),
        )


def _answers(fault: Fault) -> bool:
    return fault.status is not None or fault.retry_after is not None
