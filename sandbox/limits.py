"""Limit requests as Discord does: buckets, headers, and real 429s."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Limit:
    """Allow `count` requests in each window of `seconds`."""

    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Limits:
    """
    Say what is limited; `None` is unlimited.

    `create`, `edit` and `delete` count messages, `react` reactions put on and taken off, `typing`
    its signals, each per channel; `webhook` counts what is done by one webhook's or interaction's
    token, `overall` everything else together. `announced = False` hides the headers, as a limit
    that the client cannot know of does.
    """

    create: Limit | None = None
    edit: Limit | None = None
    delete: Limit | None = None
    react: Limit | None = None
    typing: Limit | None = None
    webhook: Limit | None = None
    overall: Limit | None = None
    announced: bool = True


UNLIMITED = Limits()

DISCORD = Limits(
    create=Limit(5, 5.0),
    edit=Limit(5, 5.0),
    delete=Limit(5, 1.0),
    react=Limit(1, 0.25),
    typing=Limit(5, 5.0),
    webhook=Limit(5, 2.0),
    overall=Limit(50, 1.0),
)
"""What bots see on Discord. Only the 50 requests a second are documented; the rest is observed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Tell whether a request may pass: `retry_after` is `None` or the seconds to wait."""

    headers: dict[str, str] = field(default_factory=dict)
    retry_after: float | None = None
    everything: bool = False


@dataclass(slots=True)
class _Window:
    ends: float
    used: int = 0


class Buckets:
    """Count requests in fixed windows, one window per bucket."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._windows: dict[str, _Window] = {}

    def take(self, method: str, path: str) -> Verdict:
        """Count one request on `path`, which begins after the API's version."""
        bucket, major = _bucket(method, path.strip("/").split("/"))
        if bucket != "webhook" and self._limits.overall is not None:
            window = self._window("overall", self._limits.overall)
            if window.used >= self._limits.overall.count:
                wait = window.ends - self._clock()
                return Verdict({"X-RateLimit-Global": "true"}, wait, everything=True)
            window.used += 1
        limit: Limit | None = getattr(self._limits, bucket) if bucket else None
        return Verdict() if limit is None else self._take(bucket, major, limit)

    def _take(self, bucket: str, major: str, limit: Limit) -> Verdict:
        window = self._window(f"{bucket} {major}", limit)
        over = window.used >= limit.count
        window.used += not over
        wait = window.ends - self._clock()
        headers = {
            "X-RateLimit-Limit": str(limit.count),
            "X-RateLimit-Remaining": str(limit.count - window.used),
            "X-RateLimit-Reset": f"{time.time() + wait:.3f}",
            "X-RateLimit-Reset-After": f"{wait:.3f}",
            "X-RateLimit-Bucket": blake2b(bucket.encode(), digest_size=16).hexdigest(),
        }
        shown = headers if self._limits.announced or over else {}
        return Verdict(shown, wait if over else None)

    def _window(self, key: str, limit: Limit) -> _Window:
        now = self._clock()
        window = self._windows.get(key)
        if window is None or window.ends <= now:
            self._windows = {name: one for name, one in self._windows.items() if one.ends > now}
            window = self._windows[key] = _Window(now + limit.seconds)
        return window


def _bucket(method: str, parts: list[str]) -> tuple[str, str]:
    """Name the limit that a request falls under and for whom it counts; empty for none."""
    match method, parts:
        case _, ["webhooks", _, token, *_] | ["interactions", _, token, *_]:
            return "webhook", token
        case "POST", ["channels", channel, "messages"]:
            return "create", channel
        case "PATCH", ["channels", channel, "messages", _]:
            return "edit", channel
        case "DELETE", ["channels", channel, "messages", _]:
            return "delete", channel
        case "PUT" | "DELETE", ["channels", channel, "messages", _, "reactions", *_]:
            return "react", channel
        case "POST", ["channels", channel, "typing"]:
            return "typing", channel
        case _:
            return "", ""
