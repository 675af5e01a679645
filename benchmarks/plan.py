"""How much is measured: the whole, a short form for CI, and a tiny one that proves it works."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes of a run."""

    #: How often everything that is compared takes its turn.
    rounds: int
    #: Seconds of one burst of cycles, roughly.
    burst: float
    #: Numbers of conversations that speak at once.
    widths: tuple[int, ...]
    #: At which of them others are measured too.
    compared: tuple[int, ...]
    #: Cycles whose traffic is recorded, to be replayed as raw commands.
    recorded: int
    #: Leases that one process renews.
    leases: int
    #: Conversations whose memory is measured.
    stored: int
    #: Pairs of messages of which the second comes around the end of the first one's turn.
    pairs: int
    #: Messages that each bot answers in a round.
    answered: int
    #: Replies that are stopped or killed.
    ended: int
    #: Replies that are streamed at once, and characters in each.
    streams: tuple[int, ...]
    characters: int
    #: How often.
    streamed: int


FULL = Plan(
    rounds=7,
    burst=0.8,
    widths=(1, 10, 50, 100),
    compared=(1, 10, 50, 100),
    recorded=8000,
    leases=10_000,
    stored=100_000,
    pairs=1000,
    answered=60,
    ended=500,
    streams=(1, 20, 100),
    characters=10_000,
    streamed=3,
)

#: Under a minute on a machine that does nothing else. Its medians of three rough runs show what is
#: broken, not what is a tenth slower.
QUICK = Plan(
    rounds=3,
    burst=0.04,
    widths=(1, 10, 50, 100),
    compared=(1, 50),
    recorded=600,
    leases=10_000,
    stored=4000,
    pairs=100,
    answered=8,
    ended=32,
    streams=(1, 20),
    characters=2000,
    streamed=1,
)
