"""Make chosen requests of the bot go wrong."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count


@dataclass(slots=True)
class Fault:
    """
    Say which requests go wrong, how, and how often (`times = None`: until cleared).

    `path` is a glob on what follows the API's version; seconds for `latency` and `retry_after`.
    With `lose_reply` the request is carried out and the connection cut without an answer.
    """

    method: str = "*"
    path: str = "*"
    times: int | None = None
    latency: float = 0.0
    status: int | None = None
    code: int = 0
    message: str | None = None
    retry_after: float | None = None
    everything: bool = False
    lose_reply: bool = False
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


class Faults:
    """Hold the faults in force, in the order in which they were added."""

    def __init__(self) -> None:
        self.active: list[Fault] = []
        self._cleared = asyncio.Event()

    def add(self, fault: Fault) -> None:
        """Put a fault in force."""
        self.active.append(fault)

    def clear(self) -> None:
        """Let every request succeed again, those that are held up too."""
        self.active.clear()
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
        self.active = [fault for fault in self.active if fault.times is None or fault.times > 0]
        return Trouble(
            latency=sum(fault.latency for fault in struck),
            answer=next((fault for fault in struck if _answers(fault)), None),
            lose_reply=any(fault.lose_reply for fault in struck),
        )


def _answers(fault: Fault) -> bool:
    return fault.status is not None or fault.retry_after is not None
