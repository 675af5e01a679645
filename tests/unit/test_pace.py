"""How fast this process edits, over all of its conversations together."""

from contextlib import ExitStack

import pytest

from bot.pace import CADENCE, EDITS_PER_SECOND, Pace


def test_few_streams_keep_the_cadence() -> None:
    """One edit a second, counted from the beginning of the one before."""
    pace = Pace()
    with pace.streaming():
        assert pace.pause(0.25) == CADENCE - 0.25


def test_many_streams_share_what_discord_allows() -> None:
    """A hundred streams together make no more edits a second than one bot may."""
    pace = Pace()
    with ExitStack() as streams:
        for _ in range(100):
            streams.enter_context(pace.streaming())
        assert 100 / (pace.pause(0.1) + 0.1) == pytest.approx(EDITS_PER_SECOND)
    assert pace.pause(0.0) == CADENCE


def test_an_edit_that_had_to_wait_leaves_as_long_free() -> None:
    """Discord made it wait because there were too many."""
    assert Pace().pause(4.0) == 4.0
