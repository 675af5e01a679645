"""What the chat cog asks its model and what it yields; the models are pydantic-ai's for tests."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from bot import Ending, Message, Quoted, Remark, Said, Turn
from cogs.chat import Chat
from tests.chat_turn import ADA, BEN, message, models, turn

NOWHERE = "http://127.0.0.1:9/v1"


class Ear:
    """A model that keeps what it was asked and says what it is told, piece by piece."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces
        self.heard: list[tuple[str, str]] = []
        self.instructions: str | None = None
        self.requests = 0

    async def say(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        """Answer as pydantic-ai's function model asks for it."""
        self.requests += 1
        self.heard = [line for each in messages for line in lines(each)]
        self.instructions = info.instructions
        for piece in self.pieces:
            yield piece


def lines(one: ModelMessage) -> list[tuple[str, str]]:
    """Write a message of pydantic-ai as (role, text)."""
    role = {ModelRequest: "person", ModelResponse: "bot"}[type(one)]
    return [(role, str(getattr(part, "content", part))) for part in one.parts]


async def ask(
    ear: Ear,
    *messages: Message,
    said: Sequence[Said] = (),
    remarks: Sequence[Remark] = (),
    max_history: int = 40,
    instructions: str = "",
) -> list[str]:
    """Let the cog answer and list its chunks."""
    asked = turn(*messages, said=said, remarks=remarks)
    function = FunctionModel(stream_function=ear.say)
    return await answer(asked, function, max_history=max_history, instructions=instructions)


async def answer(asked: Turn, by: Model, **keys: object) -> list[str]:
    """Let the cog answer by another model than the one that its settings name."""
    known = models(model="openai:x", base_url=NOWHERE, **keys)
    try:
        async with known.at(asked.messages[0].place) as (model, _):
            with model.agent.override(model=by):
                async with aclosing(Chat(known).respond(asked)) as chunks:
                    return [chunk async for chunk in chunks]
    finally:
        await known.close()


async def test_the_answer_is_yielded_piece_by_piece() -> None:
    """Each piece of the model's text is a chunk of its own, in order, unchanged."""
    assert await ask(Ear("All ", "is", " well."), message("how is it?")) == ["All ", "is", " well."]


async def test_any_model_of_pydantic_ai_answers() -> None:
    """The cog works with pydantic-ai's own model for tests as with any other."""
    model = TestModel(custom_output_text="a sentence of the test model")
    assert "".join(await answer(turn(message("hi")), model)) == "a sentence of the test model"


async def test_a_model_that_says_nothing_is_asked_once() -> None:
    """An empty answer is an answer: the cog yields nothing and does not ask again."""
    ear = Ear("")
    assert "".join(await ask(ear, message("hi"))) == ""
    assert ear.requests == 1


async def test_the_transcript_is_the_models_history() -> None:
    """What was said before comes first, oldest first, then what is asked now."""
    ear = Ear("4")
    said = [Said("person", "2?", ADA), Said("bot", "two", ending=Ending.FINISHED)]
    await ask(ear, message("and doubled?"), said=said)
    assert ear.heard == [("person", "2?"), ("bot", "two"), ("person", "and doubled?")]


async def test_a_partial_reply_is_followed_by_a_note_of_how_it_ended() -> None:
    """The model learns that a reply broke off, from a line that is not in its own voice."""
    ear = Ear("ok")
    said = [
        Said("person", "count", ADA),
        Said("bot", "1 2", ending=Ending.STOPPED),
        Said("person", "again", ADA),
        Said("bot", "1", ending=Ending.SUPERSEDED),
    ]
    await ask(ear, message("backwards"), said=said)
    assert ear.heard == [
        ("person", "count"),
        ("bot", "1 2"),
        ("person", "[The reply above ended early: stopped.]"),
        ("person", "again"),
        ("bot", "1"),
        ("person", "[The reply above ended early: superseded.]"),
        ("person", "backwards"),
    ]


async def test_several_people_in_a_guild_are_told_apart() -> None:
    """As soon as two people speak, each line of theirs begins with a name."""
    ear = Ear("ok")
    said = [Said("person", "I am new", BEN), Said("bot", "Welcome", ending=Ending.FINISHED)]
    await ask(ear, message("me too"), said=said)
    assert ear.heard == [("person", "Ben: I am new"), ("bot", "Welcome"), ("person", "Ada: me too")]


async def test_people_of_one_turn_are_told_apart() -> None:
    """The messages of one turn are one question, a line each, named when several wrote them."""
    ear = Ear("ok")
    await ask(ear, message("tea?"), message("coffee?", BEN))
    assert ear.heard == [("person", "Ada: tea?\nBen: coffee?")]


@pytest.mark.parametrize("guild", ["3001", None], ids=["guild", "DM"])
async def test_one_person_is_not_named(guild: str | None) -> None:
    """A conversation with one person has no names in it, in a guild as in a DM."""
    ear = Ear("ok")
    await ask(ear, message("tea?", guild=guild), message("please", guild=guild))
    assert ear.heard == [("person", "tea?\nplease")]


async def test_what_a_message_replies_to_is_quoted() -> None:
    """A question about another message is asked with that message."""
    ear = Ear("ok")
    await ask(ear, message("what is that?", reply_to=Quoted("5000", BEN, "a monad")))
    assert ear.heard == [("person", "[in reply to Ben: a monad]\nwhat is that?")]


async def test_what_was_written_just_before_is_told_with_a_question_in_a_channel() -> None:
    """Unless the transcript has it; our own words are there, too."""
    ear = Ear("ok")
    said = [Said("person", "hello", ADA), Said("bot", "Hi", ending=Ending.FINISHED)]
    remarks = [
        Remark("1", ADA, "hello"),
        Remark("2", BEN, "Hi", ours=True),
        Remark("3", ADA, "why is the sky blue?"),
    ]
    await ask(ear, message("^^"), said=said, remarks=remarks)
    assert ear.heard[-1] == (
        "person",
        "[Written here before, by people to each other:\nAda: why is the sky blue?\n]\n^^",
    )


async def test_nothing_is_read_around_a_question_in_a_direct_message() -> None:
    """All that was written there is in the transcript."""
    ear = Ear("ok")
    await ask(ear, message("^^", guild=None), remarks=[Remark("3", ADA, "why?")])
    assert ear.heard == [("person", "^^")]


async def test_a_message_without_text_is_asked_as_such() -> None:
    """A bare mention or an attachment alone is no empty question, which providers refuse."""
    ear = Ear("ok")
    await ask(ear, message(" "))
    assert ear.heard == [("person", "[a message without text]")]


async def test_history_is_bounded_and_begins_with_a_person() -> None:
    """The newest entries are given; a reply whose question fell out of them goes as well."""
    ear = Ear("ok")
    said = [
        Said("person", "one", ADA),
        Said("bot", "1", ending=Ending.FINISHED),
        Said("person", "two", ADA),
        Said("bot", "2", ending=Ending.FINISHED),
    ]
    await ask(ear, message("three"), said=said, max_history=3)
    assert ear.heard == [("person", "two"), ("bot", "2"), ("person", "three")]


async def test_no_history_is_given_when_none_is_wanted() -> None:
    """With `max_history = 0` each question stands alone."""
    ear = Ear("ok")
    said = [Said("person", "one", BEN), Said("bot", "1", ending=Ending.FINISHED)]
    await ask(ear, message("two"), said=said, max_history=0)
    assert ear.heard == [("person", "two")]


async def test_the_instructions_are_given() -> None:
    """What the operator wrote is what the model is told; nothing when nothing was written."""
    ear = Ear("ok")
    await ask(ear, message("hi"), instructions="Answer in rhymes.")
    assert ear.instructions == "Answer in rhymes."
    await ask(ear, message("hi"))
    assert not ear.instructions
