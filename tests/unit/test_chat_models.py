"""One model for each place that differs: made once, lent to turns, closed when it is old."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pytest

from bot.config import Place, Settings
from bot.errors import ExtensionFailed
from cogs import chat_model, chat_models
from cogs.chat_models import Models

#: Places with and without a table of their own.
QUIET, ELSEWHERE = Place(channel="5", guild="1"), Place(channel="6", guild="1")


class Model:
    """A model that only tells whether it is open."""

    made: ClassVar[list["Model"]] = []

    def __init__(self, name: str, base_url: str, instructions: str) -> None:
        self.name, self.instructions = name, instructions
        self.is_open = False
        self.made.append(self)

    async def open(self) -> None:
        """Open."""
        assert not self.is_open
        self.is_open = True

    async def close(self) -> None:
        """Close."""
        assert self.is_open
        self.is_open = False


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Model]]:
    """List the models that were made, by us and not by pydantic-ai."""
    monkeypatch.setattr(chat_model, "LanguageModel", Model)
    monkeypatch.setattr(chat_model, "hush", lambda: None)
    Model.made.clear()
    yield Model.made
    assert not any(model.is_open for model in Model.made)


class Bot:
    """Settings that change."""

    def __init__(self, *, quiet: Mapping[str, object] | None = None, **keys: object) -> None:
        self.set(quiet=quiet, **keys)
        self.models = Models(lambda: self.settings)

    def set(self, *, quiet: Mapping[str, object] | None = None, **keys: object) -> None:
        """Set keys of `[cogs.chat]`, others in the quiet channel."""
        there = {"channels": {"5": {"cogs": {"chat": quiet}}}} if quiet is not None else {}
        self.settings = Settings.model_validate({"cogs": {"chat": keys}, **there})

    async def name(self, place: Place = ELSEWHERE) -> str:
        """Name the model of *place*."""
        async with self.models.at(place) as (model, _):
            return model.name


async def test_each_place_has_the_model_that_is_set_there(made: list[Model]) -> None:
    """Made once, also when only the instructions differ; what does not differ is shared."""
    bot = Bot(model="a:b", instructions="short", quiet={"instructions": "long", "max_history": 3})
    for _ in range(2):
        async with bot.models.at(QUIET) as (model, settings):
            assert (model.name, settings.instructions, settings.max_history) == ("a:b", "long", 3)
        async with bot.models.at(ELSEWHERE) as (_, settings):
            assert (settings.instructions, settings.max_history) == ("short", 40)
    assert [model.instructions for model in made] == ["long", "short"]
    await bot.models.close()


async def test_a_change_of_settings_holds_from_the_next_turn_on(made: list[Model]) -> None:
    """The one that is lent stays open until it is given back, and longer."""
    bot = Bot(model="a:b")
    async with bot.models.at(ELSEWHERE) as (before, _):
        bot.set(model="c:d")
        assert await bot.name() == "c:d"
        assert [model.is_open for model in made] == [True, True]
        assert before.name == "a:b"
    bot.set()
    with pytest.raises(ExtensionFailed, match="is empty"):
        await bot.name()
    await bot.models.close()


async def test_models_that_nobody_asks_any_more_are_closed(
    made: list[Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was used longest ago first, but never one that is being used."""
    monkeypatch.setattr(chat_models, "MOST", 2)
    bot = Bot(model="a:0")
    async with bot.models.at(ELSEWHERE):
        for number in range(1, 4):
            bot.set(model=f"a:{number}")
            await bot.name()
            assert [model.name for model in made if model.is_open] == ["a:0", f"a:{number}"]
    await bot.models.close()


async def test_a_model_is_made_before_it_is_needed(made: list[Model]) -> None:
    """When settings are prepared for, wrong ones are found out; connections wait for a turn."""
    bot = Bot(model="a:b", quiet={"model": "c:d"})
    await bot.models.prepare(bot.settings)
    assert [(model.name, model.is_open) for model in made] == [("a:b", False), ("c:d", False)]
    assert await bot.name(QUIET) == "c:d"
    assert len(made) == 2
    await bot.models.close()
