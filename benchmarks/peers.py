"""
What others offer for the same: a lock for each conversation, or a queue with a lock.

Each opens a way to go through one turn of a conversation with an empty reply. None of them is
needed by the bot, so each is imported where it is used, and one that is not there is told of.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import Any

import redis
from redis.asyncio import Redis

from benchmarks.measure import Cycle
from benchmarks.turns import new_id

#: Life of a lock. Relation: far longer than any burst, since nobody prolongs it here.
_SECONDS = 30

#: Threads for a library that blocks. Relation: more than conversations at once.
_THREADS = 100


@asynccontextmanager
async def redis_py_lock(url: str) -> AsyncIterator[Cycle]:
    """redis-py's own lock, acquired and released. It polls when somebody else has it."""
    async with Redis.from_url(url) as client:

        async def cycle(number: int) -> None:
            async with client.lock(f"lock:{number}", timeout=_SECONDS):
                pass

        yield cycle


@asynccontextmanager
async def pottery(url: str) -> AsyncIterator[Cycle]:
    """The Redlock of pottery, over one master."""
    lock_type = import_module("pottery").AIORedlock
    async with Redis.from_url(url) as client:

        async def cycle(number: int) -> None:
            lock = lock_type(key=f"pottery:{number}", masters={client}, auto_release_time=_SECONDS)
            assert await lock.acquire()
            await lock.release()

        yield cycle


@asynccontextmanager
async def python_redis_lock(url: str) -> AsyncIterator[Cycle]:
    """python-redis-lock, which blocks its thread, so in threads as a bot would have to use it."""
    lock_type = import_module("redis_lock").Lock
    loop = asyncio.get_running_loop()
    with redis.Redis.from_url(url) as client, ThreadPoolExecutor(_THREADS) as threads:

        def hold(number: int) -> None:
            with lock_type(client, str(number), expire=_SECONDS):
                pass

        async def cycle(number: int) -> None:
            await loop.run_in_executor(threads, hold, number)

        yield cycle


@asynccontextmanager
async def chat_sdk_state(url: str) -> AsyncIterator[Cycle]:
    """What chat-sdk asks of its Redis state for one message under the strategy `queue`."""
    state = import_module("chat_sdk.state.redis").create_redis_state(url=url)
    await state.connect()

    async def cycle(number: int) -> None:
        thread = f"bench:{number}"
        assert await state.set_if_not_exists(f"dedupe:bench:{new_id()}", 1, 300_000)
        lock = await state.acquire_lock(thread, _SECONDS * 1000)
        assert lock is not None
        await state.is_subscribed(thread)
        assert await state.dequeue(thread) is None
        await state.release_lock(lock)

    try:
        yield cycle
    finally:
        await state.disconnect()


@asynccontextmanager
async def chat_sdk(url: str) -> AsyncIterator[Cycle]:
    """The whole of chat-sdk for one message, with its mock platform and a silent responder."""
    heard = answered = 0

    async def respond(*_: object) -> None:
        nonlocal answered
        answered += 1

    async with chat_sdk_app(url, respond) as (hear, _):

        async def cycle(number: int) -> None:
            nonlocal heard
            heard += 1
            await hear(f"mock:{number}:{number}")

        yield cycle
    assert answered == heard, f"{heard} messages heard, {answered} answered"


@asynccontextmanager
async def chat_sdk_app(
    url: str, respond: Callable[..., Any]
) -> AsyncIterator[tuple[Callable[[str], Any], Any]]:
    """Run chat-sdk on Redis; give what hears a message in a thread, and the state."""
    state = import_module("chat_sdk.state.redis").create_redis_state(url=url)
    chat_sdk, testing = import_module("chat_sdk"), import_module("chat_sdk.testing")
    types = import_module("chat_sdk.types")
    platform = testing.create_mock_adapter("mock")
    chat = chat_sdk.Chat(
        chat_sdk.ChatConfig(
            user_name="bot",
            adapters={"mock": platform},
            state=state,
            concurrency=types.ConcurrencyConfig(strategy="queue", max_queue_size=1000),
            logger="silent",
        )
    )
    chat.on_message(r".*")(respond)
    await chat.initialize()

    async def hear(thread: str) -> None:
        message = testing.create_test_message(new_id(), "hello there", thread_id=thread)
        await chat.handle_incoming_message(platform, thread, message)

    try:
        yield hear, state
    finally:
        await state.disconnect()


LOCKS: dict[str, Callable[[str], AbstractAsyncContextManager[Cycle]]] = {
    "redis_py_lock": redis_py_lock,
    "pottery": pottery,
    "python_redis_lock": python_redis_lock,
}

PEERS = LOCKS | {"chat_sdk_state": chat_sdk_state, "chat_sdk": chat_sdk}
