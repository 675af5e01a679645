"""The responder that asks a language model: any that pydantic-ai knows, named by one string."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from discord.ext import commands

from bot import Ending, Message, Person, Remark, Said, Turn
from bot.config import Settings
from cogs.chat_models import ChatSettings, Models

if TYPE_CHECKING:
    from bot.client import Interlock
    from cogs.chat_model import Line

#: What the model reads in place of a message that is an attachment or a mention alone.
WORDLESS = "[a message without text]"

#: Follows a reply that its turn did not finish, so that the model does not take it for all it said.
UNFINISHED = "[The reply above ended early: {ending}.]"

#: Precedes a question in a channel where people have talked: "what do you say?" is about that.
OVERHEARD = "[Written here before, by people to each other:\n{lines}\n]\n"


class Chat(commands.Cog):
    """Answers with a language model, which is given what was said before."""

    def __init__(self, models: Models) -> None:
        """Answer with that of *models* which is set where the question is asked."""
        self._models = models

    async def cog_settings(self, settings: Settings) -> None:
        """Make the models of *settings*, or refuse them."""
        await self._models.prepare(settings)

    async def cog_unload(self) -> None:
        """Close the connections to the providers."""
        await self._models.close()

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Yield the model's answer as it comes."""
        async with self._models.at(turn.messages[0].place) as (model, settings):
            prompt, said = await _question(turn, settings.max_history)
            async with aclosing(model.answer(prompt, said)) as chunks:
                async for chunk in chunks:
                    yield chunk


async def _question(turn: Turn, max_history: int) -> "tuple[str, list[Line]]":
    """Write what is asked as the model reads it, and what was said before."""
    said = await turn.history(max_history) if max_history else []
    # In a DM, and with one person, names would only teach the model to write them too.
    named = turn.guild is not None and _people(said, turn.messages) > 1
    prompt = "\n".join(_asked(message, named=named) for message in turn.messages)
    if turn.guild is not None:  # in a DM, all that was written is in the transcript
        prompt = _overheard(await turn.context(), said) + prompt
    return prompt, _lines(said, named=named)


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
    """Add the cog; raise a `StartupFailed` if a model that is set cannot be had."""
    bot.settings.cog("chat", ChatSettings)
    models = Models(lambda: bot.settings)
    await models.prepare(bot.settings)
    await bot.add_cog(Chat(models))
