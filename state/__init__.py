"""
The state of every conversation: leases, inboxes, journals and transcripts behind one port.

`connect` picks an adapter by URL; `state.ports.State` says what each must do.
"""

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

from state.errors import StateInvalid
from state.partition import DEFAULT_PARTITIONS
from state.ports import State

__all__ = ["DEFAULT_PARTITIONS", "State", "connect"]


def connect(
    url: str,
    *,
    prefix: str = "interlock",
    partitions: int = DEFAULT_PARTITIONS,
    clock: Callable[[], float] | None = None,
) -> State:
    """
    Return an unopened adapter for *url*.

    `memory:`, `sqlite:<path>` (`sqlite::memory:` too; `?synchronous=normal` is quicker and may
    lose the newest steps in a power cut), `redis://`, `rediss://`, `unix://` as redis-py reads
    them, or `redis+cluster://`, `rediss+cluster://` with any server of a cluster. *prefix* keeps
    two bots on one store apart; *partitions* is the number a new store is created with. *clock*
    (seconds) replaces the store's clock in tests. Raise `StateInvalid` for any other URL.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "memory":
        from state.memory import Database, MemoryState

        return MemoryState(Database(partitions), *([clock] if clock else []))
    if scheme == "sqlite":
        from state.sqlite import SqliteState

        path, level = _sqlite_settings(rest)
        return SqliteState(path, partitions=partitions, clock=clock, synchronous=level)
    if scheme in ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster"):
        from state.redis import RedisState

        return RedisState(url, prefix=prefix, partitions=partitions, clock=clock)
    known = "memory, sqlite, redis, rediss, unix, redis+cluster, rediss+cluster"
    raise StateInvalid(f"state.url: {urlsplit(url).scheme or url!r} is not one of {known}")


def _sqlite_settings(rest: str) -> tuple[str, str]:
    """Split what follows `sqlite:` into the path and the level of `synchronous`."""
    path, _, query = rest.removeprefix("//").partition("?")
    settings = dict(parse_qsl(query, keep_blank_values=True))
    level = settings.pop("synchronous", "full")
    if not path or settings:
        unknown = ", ".join(settings)
        problem = f"{unknown} is not a setting of sqlite" if path else "the path is missing"
        raise StateInvalid(f"state.url: {problem}: sqlite:<path>[?synchronous=normal]")
    return path, level
