"""
The one place where redis-py's connections are made, and where errors become ours.

redis-py retries by itself when it is not told otherwise, and so runs a script twice; here it never
does. Repeating is ours alone, with the operation id that makes it safe.
"""

from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    NoPermissionError,
    RedisError,
    ResponseError,
)

from state.errors import StateError, StateInvalid, StateUnavailable
from state.redis.resp import ServerError
from state.redis.slots import Address

#: Seconds for one write or one reply. Relation: under a third of the shortest lease worth having,
#: so that one lost reply never costs a lease.
SOCKET_TIMEOUT = 2.0
#: Seconds for TCP and TLS to be set up.
CONNECT_TIMEOUT = 1.0

#: What marks the scheme of a cluster's URL.
_CLUSTER = "+cluster"

#: What a connection that failed raises. AttributeError: redis-py's own, when another task closed
#: the connection under it.
FAILURES = (RedisError, ServerError, OSError, AttributeError)

#: Codes of server errors after which the same call may well succeed a moment later. So may a script
#: that met a "non local key", which was on its way to another server of the cluster.
_PASSING = ("BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "TRYAGAIN")


def connections_to(
    url: str, *, timeout: float | None, at: Address | None = None
) -> Callable[[], AbstractConnection]:
    """
    Return what makes unconnected connections to *url* that never retry by themselves.

    They lead to another server of the cluster when *at* is given. *timeout* in seconds bounds each
    write and each reply. Raise `StateInvalid` for a bad URL.
    """
    try:
        pool = ConnectionPool.from_url(
            url.replace(_CLUSTER, "", 1) if is_cluster(url) else url,
            socket_timeout=timeout,
            socket_connect_timeout=CONNECT_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
            driver_info=None,
        )
    except (ValueError, RedisError) as error:
        raise StateInvalid(f"state.url: {shown(url)}: {error}") from None
    if is_cluster(url) and pool.connection_kwargs.get("db"):
        raise StateInvalid(f"state.url: {shown(url)}: a cluster has no database but 0")
    if at is not None:
        pool.connection_kwargs |= {"host": at.host, "port": at.port}
    return cast("Callable[[], AbstractConnection]", pool.make_connection)


def is_cluster(url: str) -> bool:
    """Whether *url* names a cluster, by `+cluster` at the end of its scheme."""
    return url.partition(":")[0].endswith(_CLUSTER)


def address_in(url: str) -> Address:
    """Return the host and port that *url* names; without them, those that Redis has by default."""
    parts = urlsplit(url)
    return Address(parts.hostname or "localhost", parts.port or 6379)


def shown(url: str) -> str:
    """Return *url* without user, password and options."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def may_pass(error: Exception) -> bool:
    """Whether the same call may succeed a moment later; a lost connection's outcome is unknown."""
    if isinstance(error, ServerError):
        return error.code in _PASSING or "non local key" in str(error)
    return not isinstance(error, AuthenticationError | AuthorizationError | ResponseError)


def refusal(error: Exception, url: str, *, checked: bool) -> StateError:
    """Translate an error that no repeat would mend; before the store was *checked* by its cause."""
    return (None if checked else unusable(error, url)) or unavailable(error, url)


def unavailable(error: Exception, url: str) -> StateUnavailable:
    """Translate an error after which nothing is known."""
    text = str(error).partition("\n")[0] or type(error).__name__
    return StateUnavailable(f"Redis at {shown(url)} did not answer: {text}")


def unusable(error: Exception, url: str) -> StateInvalid | None:
    """Translate an error after which the store must not be used; one line that says what to do."""
    where, text = shown(url), str(error).partition("\n")[0]
    if isinstance(error, AuthenticationError | AuthorizationError) or text.startswith("NOAUTH"):
        return StateInvalid(f"Redis at {where} refuses the user or password in state.url")
    if isinstance(error, NoPermissionError) or "NOPERM" in text:
        return StateInvalid(f"Redis at {where} forbids what the bot needs; see its ACL: {text}")
    if "cluster support disabled" in text:
        return StateInvalid(f"Redis at {where} is no cluster: take +cluster away from state.url")
    if "DB index" in text:
        return StateInvalid(f"Redis at {where} has no such database: {text}")
    if "WRONGTYPE" in text:
        return StateInvalid(f"Redis at {where} has keys of another program under state.prefix")
    return None
