"""The way to the store, as the steps see it: one Redis or a cluster."""

from collections.abc import AsyncIterator
from typing import Any, Protocol

from redis.asyncio.connection import AbstractConnection

from state.redis.calls import Calls
from state.redis.cluster import ClusterCalls
from state.redis.driver import is_cluster
from state.redis.resp import Argument
from state.redis.scripts import Script


class Way(Protocol):
    """Calls of scripts and commands; each either answers or raises an error of ours."""

    #: Set once the store was checked: from then on no error means that it must not be used.
    checked: bool

    async def run(self, script: Script, question: bytes) -> Any:  # noqa: ANN401 (each answers its own)
        """
        Run a script until it has answered once.

        *question* is the whole packed command. Raise `StateUnavailable` after the deadline.
        """
        ...

    async def command(self, *arguments: Argument) -> Any:  # noqa: ANN401 (each answers its own)
        """Send a command that may be sent twice."""
        ...

    async def everywhere(self, *arguments: Argument) -> dict[str, Any]:
        """Send a command to each server that holds keys; answer by their addresses."""
        ...

    def keys_like(self, pattern: str, count: int) -> AsyncIterator[list[bytes]]:
        """Look through all keys of all servers, about *count* at a time; one may be given twice."""
        ...

    def members_like(self, key: str, pattern: str, count: int) -> AsyncIterator[list[bytes]]:
        """Look through a sorted set, about *count* members at a time; one may be given twice."""
        ...

    def listening(self) -> AbstractConnection:
        """Return a new connection for a listener, which hears what is published anywhere."""
        ...

    async def close(self) -> None:
        """Give back the connections; calls that still wait fail."""
        ...


def way_to(url: str) -> Way:
    """Take a URL as redis-py reads it, or with `+cluster` after its scheme."""
    return ClusterCalls(url) if is_cluster(url) else Calls(url)
