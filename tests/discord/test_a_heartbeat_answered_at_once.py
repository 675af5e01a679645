"""A heartbeat that was answered at once made discord.py warn that it cannot keep up."""

import time

import aiohttp

from sandbox import Sandbox
from sandbox.gateway import DISTANCE
from sandbox.protocol import Op
from tests.discord.sandbox_client import connected
from tests.waiting import wait_until

INTERVAL = 0.4
"""Seconds between two heartbeats: longer than an answer on this machine takes."""


async def test_a_heartbeat_is_answered_as_over_a_network() -> None:
    """Not before its sender has noted when it was sent."""
    async with (
        Sandbox() as sandbox,
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{sandbox.gateway}?v=10&encoding=json") as socket,
    ):
        assert (await socket.receive_json())["op"] == Op.HELLO
        sent = time.monotonic()
        await socket.send_json({"op": Op.HEARTBEAT, "d": None})
        assert (await socket.receive_json())["op"] == Op.ACK
        assert time.monotonic() - sent > 0.9 * DISTANCE


async def test_the_latency_that_discord_py_measures_is_that_of_one_heartbeat() -> None:
    """Never the time since the heartbeat before, which is 41 s at the usual interval."""
    async with Sandbox(heartbeat=INTERVAL) as sandbox, connected(sandbox) as client:
        for count in range(2, 6):
            await _heartbeats(sandbox, count)
            assert client.latency < INTERVAL


async def _heartbeats(sandbox: Sandbox, count: int) -> None:
    await wait_until(
        lambda: sandbox.connections.heartbeats >= count, description=f"{count} heartbeats"
    )
