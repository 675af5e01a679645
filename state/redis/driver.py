"""
The one place where redis-py's connections are made, and where errors become ours.

redis-py retries by itself when it is not told otherwise, and so runs a script twice; here it never
does. Repeating is ours alone, with the operation id that makes it safe.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

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

from state.errors import StateError, StateInvalid, StateUnavailable, Unreadable
from state.redis.resp import ServerError
from state.redis.slots import Address

#: Seconds for one write or one reply. Relation: under a third of the shortest lease worth having,
#: so that one lost reply never costs a lease.
SOCKET_TIMEOUT = 2.0
#: Seconds for TCP and TLS to be set up.
CONNECT_TIMEOUT = 1.0

#: What marks the scheme of a cluster's URL.
_CLUSTER = "+cluster"

#: Options of a URL that name files.
_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")

#: What a connection that failed raises. AttributeError: redis-py's own, when another task closed
#: the connection under it.
FAILURES = (RedisError, ServerError, OSError, AttributeError)

#: What OpenSSL says of a certificate that it does not trust.
_UNTRUSTED = "certificate verify failed"

#: What scripts fail with over foreign bytes: words of Redis, of Lua and of its msgpack.
_FOUND_FOREIGN = re.compile(
    r"WRONGTYPE|not an integer|arguments must be strings or integers"
    r"|user_script.*(attempt to |bad argument|table index is nil|(format|bytes) in input)"
)

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
    plain = url.replace(_CLUSTER, "", 1) if is_cluster(url) else url
    ours = {
        "socket_timeout": timeout,
        "socket_connect_timeout": CONNECT_TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
        "retry_on_timeout": False,
        "protocol": 2,
        "decode_responses": False,
        "driver_info": None,
    }
    if taken := [name for name, _ in parse_qsl(urlsplit(url).query) if name in ours]:
        raise StateInvalid(f"state.url: {shown(url)}: {taken[0]} is the bot's own to set")
    try:
        pool = ConnectionPool.from_url(plain, **ours)
        make = cast("Callable[[], AbstractConnection]", pool.make_connection)
        make()  # tells unknown options
    except TypeError as error:
        option = str(error).rpartition("argument ")[2]
        raise StateInvalid(f"state.url: {shown(url)}: {option} is no option of Redis") from None
    except (ValueError, RedisError) as error:
        raise StateInvalid(f"state.url: {shown(url)}: {error}") from None
    options = pool.connection_kwargs
    _check(url, options)
    if at is not None:
        options |= {"host": at.host, "port": at.port}
    return make


def _check(url: str, options: Mapping[str, Any]) -> None:
    """Refuse what no connection could be made with."""
    if is_cluster(url) and options.get("db"):
        raise StateInvalid(f"state.url: {shown(url)}: a cluster has no database but 0")
    for name in _FILES:
        if options.get(name) and not Path(options[name]).is_file():
            raise StateInvalid(f"state.url: {shown(url)}: {name}: no such file: {options[name]}")


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
    if _UNTRUSTED in str(error):
        return False
    return not isinstance(error, AuthenticationError | AuthorizationError | ResponseError)


def refusal(error: Exception, url: str, *, checked: bool) -> StateError:
    """Translate an error that no repeat would mend; before the store was *checked* by its cause."""
    return (None if checked else unusable(error, url)) or unavailable(error, url)


def unavailable(error: Exception, url: str) -> StateUnavailable:
    """Translate an error after which nothing is known."""
    text = str(error).partition("\n")[0] or type(error).__name__
    if isinstance(error, ServerError) and unreadable(text):
        return Unreadable(f"Redis at {shown(url)} has a record that cannot be read: {text}")
    return StateUnavailable(f"Redis at {shown(url)} did not answer: {text}")


def unreadable(text: str) -> bool:
    """Whether a script failed over what it found, and not over the state of the server."""
    return _FOUND_FOREIGN.search(text) is not None


def unusable(error: Exception, url: str) -> StateInvalid | None:
    """Translate an error after which the store must not be used; one line that says what to do."""
    where, text = shown(url), str(error).partition("\n")[0]
    if isinstance(error, AuthenticationError | AuthorizationError) or text.startswith("NOAUTH"):
        return StateInvalid(f"Redis at {where} refuses the user or password in state.url")
    if isinstance(error, NoPermissionError) or "NOPERM" in text:
        return StateInvalid(f"Redis at {where} denies its user what the bot needs: {text}")
    if _UNTRUSTED in text:
        reason = text.partition(_UNTRUSTED)[2].strip(": ").partition(" (_ssl")[0]
        return StateInvalid(
            f"Redis at {where} shows a certificate that is not trusted ({reason}): add"
            " ?ssl_ca_certs=FILE with its authority to state.url"
        )
    if "cluster support disabled" in text:
        return StateInvalid(f"Redis at {where} is no cluster: take +cluster away from state.url")
    if "DB index" in text:
        return StateInvalid(f"Redis at {where} has no such database: {text}")
    if "WRONGTYPE" in text:
        return StateInvalid(f"Redis at {where} has keys of another program under state.prefix")
    return None
