"""The models that the settings name: one may answer here, another there, and others tomorrow."""

import asyncio
import importlib
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bot.config import Override, Place, Settings
from bot.errors import ConfigInvalid, ExtensionFailed

if TYPE_CHECKING:
    from cogs.chat_model import LanguageModel

#: Models kept at once, with their connections; of more, the one that was used longest ago is
#: closed, unless it is being used. Nobody sets as many; this bounds what changes of settings leave.
MOST = 8

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


@dataclass(slots=True)
class _Kept:
    model: "LanguageModel"
    opened: bool = False
    #: Replies that are being written with it.
    users: int = 0


class Models:
    """Makes each model once, when it is first needed, and owns its connections."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        """Go by the *settings* in force at each turn."""
        self._settings = settings
        self._kept: dict[tuple[str, str, str], _Kept] = {}
        self._one_at_a_time = asyncio.Lock()

    async def prepare(self, settings: Settings) -> None:
        """Make all that *settings* name; raise `ConfigInvalid`, a line for each that has none."""
        problems: list[str] = []
        for key, place in _places(settings):
            chat = settings.cog_at("chat", ChatSettings, place)
            if not chat.model and settings.at(place).responder != "Chat":
                continue
            try:
                async with self._one_at_a_time:
                    await self._made(chat, hush=not settings.log.message_text)
            except ExtensionFailed as error:
                problems.append(f"{key}{error}")
        if problems:
            raise ConfigInvalid(problems)

    @asynccontextmanager
    async def at(self, place: Place) -> "AsyncIterator[tuple[LanguageModel, ChatSettings]]":
        """Lend the model of *place*, its connections open, and the settings that name it."""
        settings = self._settings()
        chat = settings.cog_at("chat", ChatSettings, place)
        async with self._one_at_a_time:
            kept = await self._made(chat, hush=not settings.log.message_text)
            if not kept.opened:
                await kept.model.open()
                kept.opened = True
            kept.users += 1
        try:
            yield kept.model, chat
        finally:
            kept.users -= 1

    async def close(self) -> None:
        """End all connections."""
        async with self._one_at_a_time:
            while self._kept:
                await _close(self._kept.popitem()[1])

    async def _made(self, chat: "ChatSettings", *, hush: bool) -> _Kept:
        key = (chat.model, chat.base_url, chat.instructions)
        kept = self._kept.pop(key, None) or _Kept(await _new(chat, hush=hush))
        idle = [one for one, other in self._kept.items() if not other.users]
        for one in idle[: max(0, len(self._kept) + 1 - MOST)]:
            await _close(self._kept.pop(one))
        self._kept[key] = kept
        return kept


async def _new(chat: ChatSettings, *, hush: bool) -> "LanguageModel":
    if not chat.model:
        raise ExtensionFailed(f"cogs.chat.model: is empty; write one such as {EXAMPLE}")
    try:
        # In a thread: the import takes a second, during which others may be answered.
        module = await asyncio.to_thread(importlib.import_module, "cogs.chat_model")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "pydantic_ai":
            raise
        raise ExtensionFailed(
            f'cogs.chat.model: "{chat.model}" needs the extra "ai"; run: pip install -e ".[ai]"'
        ) from None
    if hush:
        module.hush()
    model: LanguageModel = module.LanguageModel(chat.model, chat.base_url, chat.instructions)
    return model


async def _close(kept: _Kept) -> None:
    if kept.opened:
        await kept.model.close()


def _places(settings: Settings) -> Iterator[tuple[str, Place]]:
    """List where chat may be set differently, each with what its keys begin with."""
    yield "", Place()
    for (kind, id_), override in settings.overrides():
        if _is_about_chat(override):
            yield f"{kind}.{id_}.", _within(kind, id_)


def _is_about_chat(override: Override) -> bool:
    return "chat" in override.cogs or override.responder == "Chat"


def _within(kind: str, id_: str) -> Place:
    match kind:
        case "guilds":
            return Place(guild=id_)
        case "categories":
            return Place(category=id_)
        case _:
            return Place(channel=id_)
