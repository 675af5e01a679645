"""The responder that asks a language model: any that pydantic-ai knows, named by one string."""

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from discord.ext import commands
from pydantic import BaseModel, ConfigDict, Field, field_validator

from bot import Ending, Message, Person, Remark, Said, Turn
from bot.errors import ExtensionFailed

if TYPE_CHECKING:
    from bot.client import Interlock
    from cogs.chat_model import LanguageModel, Line

#: What the model reads in place of a message that is an attachment or a mention alone.
WORDLESS = "[a message without text]"

#: Follows a reply that its turn did not finish, so that the model does not take it for all it said.
UNFINISHED = "[The reply above ended early: {ending}.]"

#: Precedes a question in a channel where people have talked: "what do you say?" is about that.
OVERHEARD = "[Written here before, by people to each other:\n{lines}\n]\n"

EXAMPLE = '"openai:gpt-5.2"'


class ChatSettings(BaseModel):
    """The table `[cogs.chat]`."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    model: str = ""
    """The model that answers, as provider:name; empty: none."""
    base_url: str = ""
    """The address of another server that speaks the provider's protocol; empty: its own."""
    instructions: str = ""
    """What the model is told before every conversation."""
    max_history: Annotated[int, Field(ge=0, le=1000)] = 40
    """Transcript entries that the model is given with each question."""

    @field_validator("model")
    @classmethod
    def _names_provider_and_model(cls, model: str) -> str:
        if model and not re.fullmatch(r"[^\s:]+:\S+", model):
            raise ValueError(f'"{model}" names no model; write provider:name, such as {EXAMPLE}')
        return model

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, address: str) -> str:
        if address:
            parts = urlsplit(address)
            if parts.scheme not in {"http", "https"} or not parts.hostname:
                raise ValueError(f'"{address}" is no address; it begins with http:// or https://')
        return address


class Chat(commands.Cog):
    """Answers with a language model, which is given what was said before."""

    def __init__(self, model: "LanguageModel", max_history: int) -> None:
        """Answer with *model*, which is given the newest *max_history* entries with each turn."""
        self._model = model
        self._max_history = max_history

    async def cog_load(self) -> None:
        """Own the connections to the provider."""
        await self._model.open()

    async def cog_unload(self) -> None:
        """Close them."""
        await self._model.close()

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Yield the model's answer as it comes."""
        said = await turn.history(self._max_history) if self._max_history else []
        # In a DM, and with one person, names would only teach the model to write them too.
        named = turn.guild is not None and _people(said, turn.messages) > 1
        prompt = "\n".join(_asked(message, named=named) for message in turn.messages)
        if turn.guild is not None:  # in a DM, all that was written is in the transcript
            prompt = _overheard(await turn.context(), said) + prompt
        async with aclosing(self._model.answer(prompt, _lines(said, named=named))) as chunks:
            async for chunk in chunks:
                yield chunk


def _people(said: Iterable[Said], messages: Iterable[Message]) -> int:
    before = {one.author.id for one in said if one.author}
    return len(before | {message.author.id for message in messages})


def _asked(message: Message, *, named: bool) -> str:
    text = _by(message.author if named else None, message.text)
    if message.reply_to is None:
        return text
    return f"[in reply to {_by(message.reply_to.author, message.reply_to.text)}]\n{text}"


def _overheard(remarks: Iterable[Remark], said: Iterable[Said]) -> str:
    """Tell what was written just before the question without being addressed to us."""
    heard = {(one.author.id, one.text) for one in said if one.author}
    lines = [
        _by(one.author, one.text)
        for one in remarks
        if not one.ours and (one.author.id, one.text) not in heard
    ]
    return OVERHEARD.format(lines="\n".join(lines)) if lines else ""


def _lines(said: Sequence[Said], *, named: bool) -> "list[Line]":
    """Write the transcript as the model reads it, beginning with a person as providers demand."""
    lines: list[Line] = []
    for one in said:
        if one.role == "person":
            lines.append(("person", _by(one.author if named else None, one.text)))
        elif lines:
            lines.append(("bot", one.text))
            if one.ending is not Ending.FINISHED and one.ending is not None:
                lines.append(("person", UNFINISHED.format(ending=one.ending.value)))
    return lines


def _by(author: Person | None, text: str) -> str:
    words = text.strip() or WORDLESS
    return f"{author.name}: {words}" if author else words


async def setup(bot: "Interlock") -> None:
    """Add the cog if a model is set; raise `ExtensionFailed` if that one cannot be had."""
    settings = bot.settings.cog("chat", ChatSettings)
    if not settings.model:
        if bot.settings.conversation.responder == Chat.__name__:
            raise ExtensionFailed(f"cogs.chat.model: is empty; write one such as {EXAMPLE}")
        return
    try:
        from cogs.chat_model import LanguageModel, hush  # noqa: PLC0415 (needs the extra)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "pydantic_ai":
            raise
        raise ExtensionFailed(
            f'cogs.chat.model: "{settings.model}" needs the extra "ai"; run: pip install -e ".[ai]"'
        ) from None
    model = LanguageModel(settings.model, settings.base_url, settings.instructions)
    if not bot.settings.log.message_text:
        hush()
    await bot.add_cog(Chat(model, settings.max_history))
