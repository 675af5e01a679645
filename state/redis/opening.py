"""What is asked of servers before they are trusted with conversations."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from state.errors import StateInvalid
from state.redis.driver import is_cluster, shown
from state.redis.keys import meta
from state.redis.resp import command
from state.redis.rights import check_rights
from state.redis.scripts import OPEN
from state.redis.way import Way

#: The number of the key layout. A store with a higher one belongs to newer code.
SCHEMA = 1

#: The oldest server that has every command of the scripts.
OLDEST = (6, 2)


@dataclass(frozen=True, slots=True)
class Checked:
    """What opening learnt: the store's partitions, and sentences for the operator."""

    partitions: int
    notices: tuple[str, ...]


async def check(calls: Way, url: str, prefix: str, partitions: int) -> Checked:
    """Check the servers, create the store if need be; raise `StateInvalid` with what to do."""
    told = {server: _read(text) for server, text in (await calls.everywhere("INFO")).items()}
    for server, one in told.items():
        _check(server, one, cluster=is_cluster(url))
    await check_rights(calls, url, prefix)
    where = shown(url)
    schema, stored = await found_again(calls, prefix, partitions)
    if schema is None or stored is None:
        raise StateInvalid(f"Redis at {where} has keys of another program under state.prefix")
    if int(schema) > SCHEMA:
        raise StateInvalid(
            f"Redis at {where} has schema {int(schema)}, this version knows {SCHEMA}: update it"
        )
    return Checked(int(stored), tuple(_notices(told)))


async def found_again(calls: Way, prefix: str, partitions: int) -> list[Any]:
    """
    Create the store unless it is there; answer its schema and partitions.

    A server that was flushed has to be told its partitions by those who know, before somebody who
    does not creates it with others.
    """
    question = command("EVALSHA", OPEN.sha, 1, meta(prefix), SCHEMA, partitions)
    told: list[Any] = await calls.run(OPEN, question)
    return told


def _read(info: bytes) -> dict[str, str]:
    """Read what a server says about itself."""
    parts = (line.partition(":") for line in info.decode().splitlines())
    return {name: value for name, _, value in parts}


def _check(server: str, told: dict[str, str], *, cluster: bool) -> None:
    """Raise `StateInvalid` for a server that would not do."""
    version = tuple(int(part) for part in told["redis_version"].split(".")[:2])
    if version < OLDEST:
        raise StateInvalid(f"Redis at {server} is {told['redis_version']}; 6.2 or newer is needed")
    if told.get("role") == "slave":
        raise StateInvalid(f"Redis at {server} is a read-only replica; name its primary")
    if told.get("cluster_enabled") == "1" and not cluster:
        raise StateInvalid(
            f"Redis at {server} is one server of a cluster: write +cluster after redis or rediss"
        )


def _notices(told: dict[str, dict[str, str]]) -> Iterator[str]:
    """Say what the servers may lose. INFO tells it too where CONFIG is denied."""
    evicting: dict[str, list[str]] = {}
    for server, one in told.items():
        evicting.setdefault(one.get("maxmemory_policy", "noeviction"), []).append(server)
    for policy, servers in evicting.items():
        if policy != "noeviction":
            yield (
                f"Redis at {', '.join(servers)} evicts keys when memory runs short"
                f" (maxmemory-policy {policy}), and so loses messages and locks: set it to"
                " noeviction"
            )
    volatile = [server for server, one in told.items() if one.get("aof_enabled") == "0"]
    if volatile:
        yield (
            f"Redis at {', '.join(volatile)} keeps no append-only file, so a crash loses everything"
            " since its last snapshot: set appendonly yes"
        )
