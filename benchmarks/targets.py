"""What the figures are held to."""

import operator
from collections.abc import Callable
from dataclasses import dataclass

_BETTER: dict[str, Callable[[float, float], bool]] = {">=": operator.ge, "<=": operator.le}


@dataclass(frozen=True, slots=True)
class Target:
    """A bound, and on which side of it a figure is good."""

    side: str
    bound: float

    def met_by(self, figure: float) -> bool:
        """Whether *figure* is on the good side."""
        return _BETTER[self.side](figure, self.bound)

    def __str__(self) -> str:
        """Show it as a reader writes it."""
        return f"{self.side} {self.bound:g}"


TARGETS = {
    "redis.cycle.1.round_trips": Target("<=", 2),
    "redis.cycle.1.vs_redis_py_lock": Target(">=", 1),
    "redis.cycle.50.vs_redis_py_lock": Target(">=", 6),
    "redis.cycle.50.vs_chat_sdk": Target(">=", 15),
    "redis.cycle.50.vs_pool": Target(">=", 3),
    "redis.cycle.50.vs_floor": Target(">=", 0.4),
    "redis.full.50.vs_redis_py_lock": Target(">=", 4),
    "redis.full.50.vs_chat_sdk": Target(">=", 10),
    "redis.cycle.50.client_us.vs_discord": Target("<=", 1),
    "redis.handover.20.ms": Target("<=", 5),
    "sqlite.cycle.50.vs_aiosqlite": Target(">=", 10),
    "redis.stranded.percent": Target("<=", 0),
    "redis.renewal.10000.percent": Target("<=", 3),
    "redis.keys.idle": Target("<=", 0),
    "redis.bytes.mark": Target("<=", 20),
    "stop.silence.worst_ms": Target("<=", 2000),
    "stop.free.worst_ms": Target("<=", 2000),
    "streaming.1.refused": Target("<=", 0),
    "streaming.20.refused": Target("<=", 0),
    "streaming.100.refused": Target("<=", 0),
    "streaming.100.incomplete": Target("<=", 0),
}
