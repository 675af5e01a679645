"""The whole bot with a language model behind it: a provider on loopback instead of a real one."""

import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest

from bot import texts
from bot.client import Interlock
from bot.endings import Ending
from cogs.chat import UNFINISHED
from sandbox import Sandbox
from tests.discord.bots import EXTENSIONS, Room, running
from tests.openai_stub import Answer, Asked, OpenAIStub
from tests.waiting import wait_until

#: Seconds within which a stop or kill acts, whatever the provider does.
WITHIN = 2.0

STOPPED = texts.here().mark(Ending.STOPPED)
KILLED = texts.here().mark(Ending.KILLED)

LONG = Answer(" ".join(f"word{number}" for number in range(1000)), delay=0.02)
MUTE = Answer(hang_after=0)


@pytest.fixture
async def stub() -> AsyncIterator[OpenAIStub]:
    """Run a provider."""
    async with OpenAIStub().running() as stub:
        yield stub


def chatting(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> AbstractAsyncContextManager[Interlock]:
    """Run the bot with the stub's model, set as an operator sets one."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = {"model": "openai:x", "base_url": stub.url, "instructions": "Be brief."}
    return running(
        sandbox, monkeypatch, extensions=(*EXTENSIONS, "cogs.chat"), cogs={"chat": model}
    )


async def asked(stub: OpenAIStub, count: int = 1) -> Asked:
    """Wait until the provider has been asked so often; answer the last request."""
    await wait_until(lambda: len(stub.asked) == count, description=f"{count} questions")
    return stub.asked[-1]


async def hung_up(request: Asked, told: float) -> None:
    """Check that the connection of this request is closed in time."""
    await wait_until(lambda: request.hung_up, description="the connection is closed")
    assert request.hung_up is not None
    assert request.hung_up - told < WITHIN


async def marked(room: Room, mark: str, told: float) -> str:
    """Check that the first reply is marked in time; answer what it says without the mark."""
    await wait_until(lambda: room.replies()[0].endswith(mark), description=f"the mark {mark!r}")
    assert time.monotonic() - told < WITHIN
    return room.replies()[0].removesuffix(mark)


async def kill(room: Room, person: str) -> str:
    """Use /kill; answer what the bot says to it."""
    interactions = room.sandbox.interactions
    used = interactions.use(room.id, room.world.person(person).id, "kill", {})
    return str((await interactions.outcome(used))["content"])


async def test_a_model_set_by_one_string_answers_as_a_stream(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the provider says piece by piece grows in one message, with typing before it."""
    stub.usually = Answer("All is **well** here.", delay=0.2)
    async with chatting(sandbox, stub, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "how is it?")

        await room.until_replies("All is **well** here.")

        assert len(room.requests("POST", "/messages")) == 1
        assert room.requests("PATCH", str(room.own()[0].id))
        assert room.requests("POST", "/typing")
    request = await asked(stub)
    assert request.body["model"] == "x"
    assert request.messages == [("system", "Be brief."), ("user", "how is it?")]


async def test_b124_the_model_is_told_what_was_asked_just_before_it_was_mentioned(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was addressed to us is left out: the history tells it."""
    async with chatting(sandbox, stub, monkeypatch):
        room = Room(sandbox)
        for count, person in enumerate(("Ada", "Bo"), start=1):
            room.say(person, f"why is {count}?", addressed=False)
            room.say(person, "^^")
            await wait_until(lambda: len(room.own()) == count, description="an answer")  # noqa: B023 (awaited here)
    first, second = (request.messages[-1][1] for request in stub.asked)
    assert first == "[Written here before, by people to each other:\nAda: why is 1?\n]\n^^"
    assert second == (
        "[Written here before, by people to each other:\nAda: why is 1?\nBo: why is 2?\n]\nBo: ^^"
    )


async def test_stop_closes_the_connection_to_the_provider(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within two seconds; what was streamed stays, and nothing is paid for after it."""
    stub.usually = LONG
    async with chatting(sandbox, stub, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "tell me everything")
        await wait_until(room.replies, description="the stream")
        told = time.monotonic()

        room.say("Ada", "stop", addressed=False)

        await hung_up(await asked(stub), told)
        partial = await marked(room, STOPPED, told)
        assert LONG.text.startswith(partial)


async def test_stop_ends_a_provider_that_never_answers(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to wait for; whoever is next is answered."""
    stub.answers.append(MUTE)
    async with chatting(sandbox, stub, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "are you there?")
        mute = await asked(stub)
        room.say("Bo", "how is it?")
        told = time.monotonic()

        room.say("Ada", "stop", addressed=False)

        await hung_up(mute, told)
        await room.until_replies("All is well.")


async def test_stop_ends_a_provider_that_falls_silent_in_the_middle(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before the silence is kept."""
    stub.usually = Answer(hang_after=2)
    async with chatting(sandbox, stub, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "how is it?")
        await room.until_replies("All is")
        told = time.monotonic()

        room.say("Ada", "stop", addressed=False)

        await hung_up(await asked(stub), told)
        assert (await marked(room, STOPPED, told)).rstrip() == "All is"


async def test_kill_ends_a_provider_that_goes_on_and_on(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is closed, and what is on Discord stays and is marked."""
    stub.usually = LONG
    async with chatting(sandbox, stub, monkeypatch):
        room = Room(sandbox)
        room.say("Bo", "tell me everything")
        await wait_until(room.replies, description="the stream")
        told = time.monotonic()

        assert await kill(room, "Ada") == "Stopped Bo's reply."

        await hung_up(await asked(stub), told)
        assert LONG.text.startswith(await marked(room, KILLED, told))


async def test_kill_ends_a_provider_that_never_answers(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no reply to mark, so the question is."""
    stub.usually = MUTE
    async with chatting(sandbox, stub, monkeypatch):
        room = Room(sandbox)
        question = room.say("Bo", "are you there?")
        mute, told = await asked(stub), time.monotonic()

        assert await kill(room, "Bo") == "Stopped your reply."

        await hung_up(mute, told)
        await room.until_marked(question, texts.STOPPED)
        assert room.replies() == ["Stopped your reply."]


async def test_the_second_question_comes_with_what_was_said_before(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With names when there are several people, and never another channel's words."""
    async with chatting(sandbox, stub, monkeypatch):
        room, elsewhere = Room(sandbox), Room(sandbox, "random")
        room.say("Ada", "how is it?")
        await room.until_replies("All is well.")
        room.say("Bo", "really?")
        await room.until_replies("All is well.", "All is well.")
        elsewhere.say("Ada", "and here?")
        await elsewhere.until_replies("All is well.")
    assert stub.asked[1].messages == [
        ("system", "Be brief."),
        ("user", "Ada: how is it?"),
        ("assistant", "All is well."),
        ("user", "Bo: really?"),
    ]
    assert stub.asked[2].messages == [("system", "Be brief."), ("user", "and here?")]


async def test_a_reply_that_was_interrupted_is_part_of_what_was_said(
    sandbox: Sandbox, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as it came, and marked so that the model does not take it for all it said."""
    # Slow: what one person writes within 300 ms is taken for the halves of one paste.
    stub.answers.append(Answer(hang_after=2, delay=0.2))
    async with chatting(sandbox, stub, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "how is it?")
        await room.until_replies("All is")

        room.say("Ada", "in one word, please")

        await room.until_replies(texts.here().mark(Ending.SUPERSEDED), "All is well.")
    assert stub.asked[1].messages[1:] == [
        ("user", "how is it?"),
        ("assistant", "All is "),
        ("user", UNFINISHED.format(ending="superseded")),
        ("user", "in one word, please"),
    ]
