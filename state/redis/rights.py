"""Whether the user may do all that the steps will ask for, found out by harmless tries."""

import asyncio

from state.errors import StateInvalid
from state.redis.driver import FAILURES, SOCKET_TIMEOUT, is_cluster, refusal, shown
from state.redis.keys import Keys
from state.redis.resp import command
from state.redis.scripts import RIGHTS
from state.redis.way import Way


async def check_rights(calls: Way, url: str, prefix: str) -> None:
    """Raise `StateInvalid` with the commands, keys or channels that the user is denied."""
    keys = Keys(prefix, 1)
    nowhere, partition = keys.beat("nobody"), keys.tag(0)
    # Though another may have loaded them: they are gone after the next restart.
    await calls.everywhere("SCRIPT", "LOAD", RIGHTS.text)
    asked = (f"{{{prefix}}}:never", nowhere)
    denied, words = await calls.run(RIGHTS, command("EVALSHA", RIGHTS.sha, 1, *asked))
    if denied:
        names = " ".join(f"+{name.decode()}" for name in denied)
        where = shown(url)
        raise StateInvalid(f"Redis at {where} denies its user {names} in scripts: {words.decode()}")
    # Each of these says by itself what is denied.
    await calls.command("PUBLISH", nowhere, "")
    await calls.command("UNLINK", f"{partition}:never")
    await calls.command("ZSCAN", f"{partition}:never", 0)
    await calls.everywhere("SCAN", 0, "MATCH", f"{partition}:never")
    if is_cluster(url):
        await calls.everywhere("ASKING")
    await _subscribe(calls, url, [nowhere, *keys.all_hints()])


async def _subscribe(calls: Way, url: str, channels: list[str]) -> None:
    connection = calls.listening()
    try:
        async with asyncio.timeout(SOCKET_TIMEOUT):
            await connection.connect()  # type: ignore[no-untyped-call]
            await connection.send_command("SUBSCRIBE", *channels)
            await connection.read_response()
    except FAILURES as error:
        raise refusal(error, url, checked=False) from None
    finally:
        await connection.disconnect(nowait=True)
