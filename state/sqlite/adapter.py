"""The state port over one SQLite file: each step is one function of an immediate transaction."""

from state.sqlite.keeping import Keeping
from state.sqlite.operating import Operating
from state.sqlite.reading import Reading
from state.sqlite.renewing import Renewing
from state.sqlite.requests import Requests
from state.sqlite.sharding import Sharding
from state.sqlite.timing import Timing
from state.sqlite.turns import Turns


class SqliteState(Turns, Renewing, Requests, Reading, Timing, Keeping, Operating, Sharding):
    """
    Every step of `state.ports.State` over one file, which several processes may share.

    `:memory:` is private to its handle.
    """
