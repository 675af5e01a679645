"""When somebody wants to be reminded, as people write it."""

import datetime as dt

import pytest

from cogs.reminder_times import seconds_until

NOW = dt.datetime(2026, 12, 31, 17, 30, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10m", 600),
        ("10 min", 600),
        ("in 2 hours", 7200),
        ("In 2 Hours", 7200),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("1 hour and 30 minutes", 5400),
        ("1 day, 2 hours", 93_600),
        ("1.5h", 5400),
        ("2w", 1_209_600),
        ("90s", 90),
        ("0m", 0),
        ("17:45", 900),
        ("at 17:45", 900),
        ("17:30", 86_400),
        ("9:00", 55_800),
        ("2027-01-01", 23_400),
        ("2027-01-01 09:00", 55_800),
        ("2027-01-01T09:00Z", 55_800),
        ("2027-01-01T09:00+01:00", 52_200),
        ("2026-12-31 17:00", -1800),
        ("10", None),
        ("soon", None),
        ("10 parsecs", None),
        ("25:00", None),
        ("12:60", None),
        ("2027-02-30", None),
        ("-5m", None),
        ("", None),
    ],
)
def test_a_time_is_read_as_it_is_meant(text: str, seconds: float | None) -> None:
    """A span with units, a time of day that comes next, or a day; UTC, and nothing guessed."""
    assert seconds_until(text, NOW) == seconds
