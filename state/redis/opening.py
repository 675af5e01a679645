"""What is asked of a server before it is trusted with conversations."""

from dataclasses import dataclass

from state.errors import StateInvalid
from state.redis.calls import Calls
from state.redis.driver import shown
from state.redis.keys import meta
from state.redis.resp import command
from state.redis.scripts import OPEN

#: The number of the key layout. A store with a higher one belongs to newer code.
SCHEMA = 1

#: The oldest server that has every command of the scripts.
OLDEST = (6, 2)


@dataclass(frozen=True, slots=True)
class Checked:
    """What opening learnt: the store's partitions, and sentences for the operator."""

    partitions: int
    notices: tuple[str, ...]


async def check(calls: Calls, url: str, prefix: str, partitions: int) -> Checked:
    """Check the server, create the store if there is none; raise `StateInvalid` with what to do."""
    where = shown(url)
    told = await _told(calls)
    version = tuple(int(part) for part in told["redis_version"].split(".")[:2])
    if version < OLDEST:
        raise StateInvalid(f"Redis at {where} is {told['redis_version']}; 6.2 or newer is needed")
    if told.get("role") == "slave":
        raise StateInvalid(f"Redis at {where} is a read-only replica; name its primary")
    schema, stored = await calls.run(
        OPEN, command("EVALSHA", OPEN.sha, 1, meta(prefix), SCHEMA, partitions)
    )
    if schema is None or stored is None:
        raise StateInvalid(f"Redis at {where} has keys of another program under state.prefix")
    if int(schema) > SCHEMA:
        raise StateInvalid(
            f"Redis at {where} has schema {int(schema)}, this version knows {SCHEMA}: update it"
        )
    return Checked(int(stored), tuple(_notices(told)))


async def _told(calls: Calls) -> dict[str, str]:
    """Ask the server about itself."""
    text: bytes = await calls.command("INFO")
    parts = (line.partition(":") for line in text.decode().splitlines())
    return {name: value for name, _, value in parts}


def _notices(told: dict[str, str]) -> list[str]:
    """Say what the server may lose. INFO tells it too where CONFIG is denied."""
    notices = []
    policy = told.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        notices.append(
            f"Redis evicts keys when memory runs short (maxmemory-policy {policy}), which loses"
            " messages and locks: set it to noeviction"
        )
    if told.get("aof_enabled") == "0":
        notices.append(
            "Redis keeps no append-only file, so a crash loses everything since its last snapshot:"
            " set appendonly yes"
        )
    return notices
