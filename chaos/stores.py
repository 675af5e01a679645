"""Stores to be tried: each made for one purpose, and gone afterwards."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from tests.redis_server import running_redis

#: Those that outlive a process, and the specification that they must agree with.
DURABLE = ("sqlite", "redis")
STORES = ("memory", *DURABLE)


@contextmanager
def made(store: str) -> Iterator[str]:
    """Make a store until the block ends; answer its address."""
    match store:
        case "redis":
            with running_redis() as server:
                yield server.socket_url
        case "sqlite":
            with tempfile.TemporaryDirectory(prefix="interlock-chaos-") as folder:
                # Nothing loses power here, so that nothing has to be on the disk.
                yield f"sqlite:{folder}/state.db?synchronous=normal"
        case _:
            yield "memory:"
