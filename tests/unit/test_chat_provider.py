"""The chat cog against a provider over real sockets, one that answers and one that does not."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from bot import Ending, RetryLater, Said
from cogs.chat import Chat
from cogs.chat_model import TALKATIVE, ModelFailed, hush
from tests.chat_turn import ADA, message, models, turn
from tests.openai_stub import Answer, Asked, OpenAIStub
from tests.waiting import wait_until

#: Seconds within which a stop must have closed the connection. Relation: the bot allows 2.
AT_ONCE = 0.5

SECRET = "the-cat-is-called-Zeppelin"


@pytest.fixture(params=["openai", "openai-responses"])
def protocol(request: pytest.FixtureRequest) -> str:
    """Name each of the two protocols that OpenAI's models are asked in."""
    return str(request.param)


@pytest.fixture
async def stub() -> AsyncIterator[OpenAIStub]:
    """Run a provider."""
    async with OpenAIStub().running() as stub:
        yield stub


@pytest.fixture
async def chat(
    stub: OpenAIStub, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Chat]:
    """Give a loaded cog whose model is the stub's."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    chat = Chat(models(model=f"{protocol}:x", base_url=stub.url, instructions="Be brief."))
    yield chat
    await chat.cog_unload()


async def ask(chat: Chat, text: str = "how is it?", chunks: list[str] | None = None) -> list[str]:
    """Let the cog answer as the bot does: advanced and closed in one task."""
    chunks = [] if chunks is None else chunks
    async with aclosing(chat.respond(turn(message(text)))) as answer:
        async for chunk in answer:
            chunks.append(chunk)
    return chunks


async def stop(speaking: "asyncio.Task[list[str]]", asked: Asked) -> float:
    """Cancel as a stop does; answer how many seconds later the connection was closed."""
    stopped = time.monotonic()
    speaking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await speaking
    await wait_until(lambda: asked.hung_up, description="the provider sees us gone")
    assert asked.hung_up is not None
    return asked.hung_up - stopped


async def test_the_answer_streams(stub: OpenAIStub, chat: Chat) -> None:
    """The first pieces are there while the provider still writes, and none is lost."""
    stub.answers.append(Answer("All is very well.", hang_after=2))
    chunks: list[str] = []
    speaking = asyncio.create_task(ask(chat, chunks=chunks))
    await wait_until(lambda: len(chunks) == 2, description="two pieces have come")
    assert chunks == ["All ", "is "]
    await stop(speaking, stub.asked[0])
    assert "".join(await ask(chat)) == stub.usually.text


async def test_the_provider_is_asked_as_the_protocol_wants(
    stub: OpenAIStub, chat: Chat, protocol: str
) -> None:
    """Model, key, instructions, history and question are sent, and a stream is asked for."""
    said = [Said("person", "2?", ADA), Said("bot", "two", ending=Ending.FINISHED)]
    async with aclosing(chat.respond(turn(message("doubled?"), said=said))) as answer:
        assert "".join([chunk async for chunk in answer]) == "All is well."
    (asked,) = stub.asked
    assert (
        asked.path
        == {
            "openai": "/v1/chat/completions",
            "openai-responses": "/v1/responses",
        }[protocol]
    )
    assert asked.authorization == "Bearer sk-of-the-environment"
    assert (asked.body["model"], asked.body["stream"]) == ("x", True)
    told = [("system", "Be brief.")] if protocol == "openai" else []
    assert asked.messages == [*told, ("user", "2?"), ("assistant", "two"), ("user", "doubled?")]
    assert asked.body.get("instructions", "Be brief.") == "Be brief."


async def test_a_stop_closes_the_connection_at_once(stub: OpenAIStub, chat: Chat) -> None:
    """Cancelled between two pieces, the cog hangs up: nobody pays for what nobody reads."""
    stub.answers.append(Answer("one two three", hang_after=1))
    chunks: list[str] = []
    speaking = asyncio.create_task(ask(chat, chunks=chunks))
    await wait_until(lambda: chunks, description="the first piece has come")
    assert await stop(speaking, stub.asked[0]) < AT_ONCE
    assert chunks == ["one "]
    await wait_until(lambda: stub.connections == 0, description="no connection is left")


async def test_a_stop_closes_the_connection_to_a_mute_provider(
    stub: OpenAIStub, chat: Chat
) -> None:
    """A provider that has not answered at all is left as quickly."""
    stub.answers.append(Answer(hang_after=0))
    speaking = asyncio.create_task(ask(chat))
    await wait_until(lambda: stub.asked, description="the provider has been asked")
    assert await stop(speaking, stub.asked[0]) < AT_ONCE
    await wait_until(lambda: stub.connections == 0, description="no connection is left")


async def test_closing_the_generator_closes_the_connection(stub: OpenAIStub, chat: Chat) -> None:
    """Closed where it yields, as a stop between two chunks does, the cog hangs up as well."""
    stub.answers.append(Answer("one two three", hang_after=2))
    answer = chat.respond(turn(message("count")))
    assert await anext(answer) == "one "
    closed = time.monotonic()
    await answer.aclose()
    await wait_until(lambda: stub.asked[0].hung_up, description="the provider sees us gone")
    assert stub.asked[0].hung_up is not None
    assert stub.asked[0].hung_up - closed < AT_ONCE


async def test_a_stop_leaves_the_next_turn_alone(stub: OpenAIStub, chat: Chat) -> None:
    """Two conversations ask at once; stopping one neither ends nor mixes the other."""
    stub.answers.extend([Answer("one two", hang_after=1), Answer("red green blue", delay=0.02)])
    chunks: list[str] = []
    first = asyncio.create_task(ask(chat, chunks=chunks))
    await wait_until(lambda: chunks, description="the first is being answered")
    second = asyncio.create_task(ask(chat))
    await wait_until(lambda: len(stub.asked) == 2, description="the second is asked")
    await stop(first, stub.asked[0])
    assert "".join(await second) == "red green blue"
    assert stub.asked[1].hung_up is None


async def test_unloading_closes_idle_connections(stub: OpenAIStub) -> None:
    """A connection kept for the next question does not outlive the cog."""
    chat = Chat(models(model="openai:x", base_url=stub.url))
    await ask(chat)
    assert stub.connections == 1
    await chat.cog_unload()
    await wait_until(lambda: stub.connections == 0, description="the connection is closed")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=408),
        Answer(status=429, code="rate_limit_exceeded"),
        Answer(status=500),
        Answer(status=502),
        Answer(status=503),
        Answer("one two three", break_after=0),
        Answer("one two three", break_after=2),
    ],
    ids=["408", "429", "500", "502", "503", "lost-before-text", "lost-in-text"],
)
async def test_what_passes_by_itself_is_worth_a_retry(
    stub: OpenAIStub, chat: Chat, answer: Answer
) -> None:
    """The turn is tried again, by the bot and not beneath it: the provider was asked once."""
    stub.answers.append(answer)
    with pytest.raises(RetryLater):
        await ask(chat)
    assert len(stub.asked) == 1
    assert "".join(await ask(chat)) == stub.usually.text


async def test_a_provider_that_is_not_there_is_worth_a_retry(protocol: str) -> None:
    """A refused connection passes by itself, as a restart of the provider does."""
    async with OpenAIStub().running() as stub:
        chat = Chat(models(model=f"{protocol}:x", base_url=stub.url))
    with pytest.raises(RetryLater, match=f"^{protocol}:x: ModelConnectionError$"):
        await ask(chat)
    await chat.cog_unload()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(status=400), "ModelRequestRejectedError 400"),
        (Answer(status=401, code="invalid_api_key"), "ModelAuthenticationError 401"),
        (Answer(status=404, code="model_not_found"), "ModelNotFoundError 404 model_not_found"),
        (Answer(status=429, code="insufficient_quota"), "ModelQuotaExceededError 429"),
    ],
    ids=["400", "401", "404", "no-quota"],
)
async def test_what_stays_wrong_is_given_up(
    stub: OpenAIStub, chat: Chat, answer: Answer, reason: str
) -> None:
    """Asking again would change nothing; the error says why, with the provider's own code."""
    stub.answers.append(answer)
    with pytest.raises(ModelFailed, match=reason):
        await ask(chat)
    assert len(stub.asked) == 1


async def test_errors_do_not_repeat_what_people_wrote(stub: OpenAIStub, chat: Chat) -> None:
    """A provider's error may quote the question; ours are logged, so they quote nothing."""
    stub.answers.append(Answer(status=400, message=f"I cannot read {SECRET}"))
    with pytest.raises(ModelFailed) as raised:
        await ask(chat, SECRET)
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


async def test_debug_logs_do_not_repeat_what_people_wrote(
    stub: OpenAIStub, caplog: pytest.LogCaptureFixture
) -> None:
    """
    With everything logged that libraries have to say, the question is not in it.

    Anthropic's library logs whole requests; that the stub does not understand it comes after.
    """
    chat = Chat(models(model="anthropic:x", base_url=stub.url))
    levels = {name: logging.getLogger(name).level for name in TALKATIVE}
    hush()
    try:
        with caplog.at_level(logging.DEBUG), pytest.raises(ModelFailed, match="404"):
            await ask(chat, SECRET)
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        await chat.cog_unload()
    assert caplog.records
    assert SECRET not in caplog.text
