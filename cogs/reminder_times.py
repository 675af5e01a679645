"""Read when somebody wants to be reminded: in a while, at a time of day, or on a day."""

import datetime as dt
import re

#: Seconds of each unit that people write.
_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604_800.0),
}

_PART = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*([a-z]+)")
_SPAN = re.compile(r"(?:in\s+)?((?:\d{1,6}(?:\.\d{1,3})?\s*[a-z]+[\s,]*(?:and\s+)?)+)")
_CLOCK = re.compile(r"(?:at\s+)?(\d{1,2}):(\d{2})")


def seconds_until(text: str, now: dt.datetime) -> float | None:
    """Answer how many seconds after *now* (UTC) *text* means; None when it says no time."""
    plain = text.strip().lower()
    if (span := _SPAN.fullmatch(plain)) is not None:
        return _span(span[1])
    if (clock := _CLOCK.fullmatch(plain)) is not None:
        return _next(int(clock[1]), int(clock[2]), now)
    try:
        when = dt.datetime.fromisoformat(plain.upper())
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=dt.UTC)
    return (when - now).total_seconds()


def _span(text: str) -> float | None:
    parts = [(float(count), _UNITS.get(unit)) for count, unit in _PART.findall(text)]
    total = 0.0
    for count, size in parts:
        if size is None:
            return None
        total += count * size
    return total


def _next(hour: int, minute: int, now: dt.datetime) -> float | None:
    """The seconds until a time of day comes next."""
    try:
        when = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    except ValueError:
        return None
    if when <= now:
        when += dt.timedelta(days=1)
    return (when - now).total_seconds()
