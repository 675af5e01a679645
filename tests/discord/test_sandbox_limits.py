"""Discord's limits: a bucket for each kind of request, told in headers, and enforced by 429s."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import discord
import pytest

from sandbox import DISCORD, UNLIMITED, Limit, Limits, Sandbox
from sandbox.limits import Buckets
from tests.discord.sandbox_client import connected

LONG = 60.0
"""Seconds of a window that no test outlives."""


class Clock:
    """Stand still until moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Answer the seconds."""
        return self.now


def only(kind: str, limit: Limit) -> Limits:
    """Limit one kind of request."""
    changes: dict[str, Any] = {kind: limit}
    return replace(UNLIMITED, **changes)


MESSAGE = "/channels/1/messages/2"
KINDS = {
    "create": ("POST", "/channels/1/messages", "/channels/2/messages"),
    "edit": ("PATCH", MESSAGE, "/channels/2/messages/2"),
    "delete": ("DELETE", MESSAGE, "/channels/2/messages/2"),
    "react": ("PUT", f"{MESSAGE}/reactions/x/@me", "/channels/2/messages/2/reactions/x/@me"),
    "typing": ("POST", "/channels/1/typing", "/channels/2/typing"),
    "webhook": ("PATCH", "/webhooks/1/token/messages/@original", "/webhooks/1/other"),
}


@pytest.mark.parametrize(("kind", "request_"), KINDS.items(), ids=KINDS)
def test_each_kind_has_a_bucket_per_channel_or_token_that_refills_after_its_window(
    kind: str, request_: tuple[str, str, str]
) -> None:
    """At Discord's numbers: as many as allowed pass, one more waits, elsewhere goes on."""
    method, path, elsewhere = request_
    limit: Limit = getattr(DISCORD, kind)
    clock = Clock()
    buckets = Buckets(only(kind, limit), clock)
    passed = [buckets.take(method, path) for _ in range(limit.count)]
    remaining = [verdict.headers["X-RateLimit-Remaining"] for verdict in passed]
    assert remaining == [str(left) for left in reversed(range(limit.count))]
    clock.now = limit.seconds / 2
    assert buckets.take(method, path).retry_after == pytest.approx(limit.seconds / 2)
    assert buckets.take(method, elsewhere).retry_after is None
    clock.now = limit.seconds
    assert buckets.take(method, path).retry_after is None


def test_discords_numbers_are_those_that_bots_see() -> None:
    """Five messages and five edits in five seconds, four reactions a second, fifty of all."""
    assert DISCORD.create == DISCORD.edit == DISCORD.typing == Limit(5, 5.0)
    assert DISCORD.react == Limit(1, 0.25)
    assert DISCORD.overall == Limit(50, 1.0)


def test_putting_a_reaction_on_and_taking_it_off_share_a_bucket() -> None:
    """So a mark and its removal are a quarter of a second apart."""
    buckets = Buckets(DISCORD, Clock())
    path = "/channels/1/messages/2/reactions/x/@me"
    assert buckets.take("PUT", path).retry_after is None
    assert buckets.take("DELETE", path).retry_after == pytest.approx(0.25)


def test_a_route_has_one_bucket_name_in_all_channels() -> None:
    """discord.py joins the name with the channel; different kinds have different names."""
    buckets = Buckets(DISCORD, Clock())
    names = {
        kind: {
            buckets.take(method, path).headers["X-RateLimit-Bucket"],
            buckets.take(method, elsewhere).headers["X-RateLimit-Bucket"],
        }
        for kind, (method, path, elsewhere) in KINDS.items()
    }
    assert all(len(shared) == 1 for shared in names.values())
    assert len(set.union(*names.values())) == len(KINDS)


def test_all_requests_of_a_bot_share_fifty_a_second_but_for_interactions() -> None:
    """Whatever the route; a webhook's token is exempt."""
    clock = Clock()
    buckets = Buckets(DISCORD, clock)
    for _ in range(50):
        assert buckets.take("GET", "/users/@me").retry_after is None
    refused = buckets.take("GET", "/gateway/bot")
    assert refused.everything
    assert refused.retry_after == pytest.approx(1.0)
    assert buckets.take("POST", "/webhooks/1/token").retry_after is None
    assert buckets.take("POST", "/interactions/1/token/callback").retry_after is None
    clock.now = 1.0
    assert buckets.take("GET", "/users/@me").retry_after is None


def test_a_server_without_limits_names_none() -> None:
    """No header, no wait."""
    buckets = Buckets(UNLIMITED, Clock())
    verdicts = [buckets.take(method, path) for method, path, _ in KINDS.values() for _ in range(9)]
    assert not any(verdict.headers or verdict.retry_after for verdict in verdicts)


@asynccontextmanager
async def bare(limits: Limits) -> AsyncIterator[tuple[Sandbox, aiohttp.ClientSession]]:
    """Run a sandbox, and a session that sends requests as its bot."""
    async with Sandbox(limits=limits) as sandbox:
        headers = {"Authorization": f"Bot {sandbox.token}"}
        async with aiohttp.ClientSession(headers=headers) as session:
            yield sandbox, session


Ask = Callable[[Sandbox, int, int], tuple[str, str, object]]

WIRE: dict[str, Ask] = {
    "create": lambda _, room, __: ("POST", f"/channels/{room}/messages", {"content": "x"}),
    "edit": lambda _, room, own: ("PATCH", f"/channels/{room}/messages/{own}", {"content": "y"}),
    "react": lambda _, room, own: (
        "PUT",
        f"/channels/{room}/messages/{own}/reactions/%E2%8F%B3/@me",
        None,
    ),
    "typing": lambda _, room, __: ("POST", f"/channels/{room}/typing", None),
    "webhook": lambda one, room, __: ("POST", _hook(one, room), {"content": "x"}),
}


def _hook(sandbox: Sandbox, room: int) -> str:
    hooks = sandbox.world.discord.webhooks
    hook = next(iter(hooks.values()), None) or sandbox.world.discord.create_webhook(
        room, "Hook", sandbox.world.discord.bot_user.id
    )
    return f"/webhooks/{hook.id}/{hook.token}"


@pytest.mark.parametrize("kind", WIRE)
async def test_a_request_too_many_is_a_real_429_on_the_wire(kind: str) -> None:
    """Headers and body say for how long and whom it concerns, and nothing is carried out."""
    async with bare(only(kind, Limit(1, LONG))) as (sandbox, session):
        world = sandbox.world
        room = world.channel("general").id
        own = world.discord.create_message(room, world.discord.bot_user.id, "own").id
        method, path, body = WIRE[kind](sandbox, room, own)
        async with session.request(method, sandbox.api + path, json=body) as taken:
            assert taken.status in (200, 204)
            assert taken.headers["X-RateLimit-Remaining"] == "0"
            bucket = taken.headers["X-RateLimit-Bucket"]
        before = len(world.messages(room))
        async with session.request(method, sandbox.api + path, json=body) as refused:
            told = await refused.json()
            assert refused.status == 429
            assert refused.headers["X-RateLimit-Bucket"] == bucket
            assert refused.headers["X-RateLimit-Scope"] == "user"
            assert refused.headers["Via"]
            assert 0 < told["retry_after"] <= LONG
            assert int(refused.headers["Retry-After"]) >= told["retry_after"]
        assert len(world.messages(room)) == before


async def test_discord_py_waits_out_the_limit_on_reactions_and_typing_without_a_429() -> None:
    """With announced limits the client keeps to them by itself."""
    limits = Limits(react=Limit(1, 0.1), typing=Limit(1, 0.1))
    async with Sandbox(limits=limits) as sandbox, connected(sandbox) as bot:
        channel = bot.get_partial_messageable(sandbox.world.channel("general").id)
        message = await channel.send("mark me")
        assert bot.user is not None
        for _ in range(2):
            await message.add_reaction("⏳")
            await message.remove_reaction("⏳", discord.Object(bot.user.id))
            await channel.typing()
        assert 429 not in [entry.status for entry in sandbox.log.since()]
