"""What the admins of a guild have set, as one process knows it and as the store keeps it."""

import asyncio
from typing import Any

import pytest

from bot import guild_settings as module
from bot.config import Place, Settings
from bot.errors import ConfigInvalid
from bot.guild_settings import GuildSettings
from bot.rules import Rulebook
from state.keys import Owner, Scope
from tests.unit.fake_store import Store
from tests.waiting import wait_until

#: A channel in a guild.
HERE = Place(channel="3", category="2", guild="1")


def settings(*keys: str, **tables: Any) -> Settings:  # noqa: ANN401 (what TOML holds)
    """Make settings in which admins may set *keys*."""
    return Settings.model_validate({"access": {"guild_settings": keys or ("mode",)}, **tables})


class Process:
    """The rules of one process, and what it knows of the guilds."""

    def __init__(self, store: Store, given: Settings | None = None) -> None:
        self.guilds = GuildSettings(store.port, lambda: self.rules.settings)
        self.rules = Rulebook(given or settings(), self.guilds.at)

    async def mode(self, place: Place = HERE) -> str:
        """Answer the mode of *place*, as a message there finds it."""
        await self.guilds.learn(place)
        return self.rules.conversation(place).mode


async def test_what_is_set_holds_in_that_guild_until_it_is_taken_back() -> None:
    """At once in the process that was told, and nowhere else than in that guild."""
    bot = Process(Store())
    assert await bot.mode() == "queue"
    await bot.guilds.set("1", "mode", "drop")
    assert await bot.mode() == "drop"
    assert await bot.mode(Place(channel="9", guild="1")) == "drop"
    assert await bot.mode(Place(channel="9", guild="8")) == "queue"
    assert await bot.mode(Place(channel="9")) == "queue"
    await bot.guilds.reset("1", "mode")
    assert await bot.mode() == "queue"


@pytest.mark.parametrize(
    ("tables", "mode"),
    [
        ({"conversation": {"mode": "collect"}}, "drop"),
        ({"guilds": {"1": {"mode": "collect"}}}, "drop"),
        ({"categories": {"2": {"mode": "collect"}}}, "collect"),
        ({"channels": {"3": {"mode": "collect"}}}, "collect"),
    ],
)
async def test_it_beats_the_operators_word_on_the_guild_not_on_a_part_of_it(
    tables: dict[str, object], mode: str
) -> None:
    """A category or a channel of which the operator has said how it is stays so."""
    bot = Process(Store(), settings(**tables))
    await bot.guilds.set("1", "mode", "drop")
    assert await bot.mode() == mode


async def test_another_process_goes_by_it_before_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has read is believed for a while, so that not each message reads it."""
    store = Store()
    bot, second = Process(store), store.another()
    other = Process(second)
    assert await other.mode() == "queue"
    await bot.guilds.set("1", "mode", "drop")
    for _ in range(3):
        assert await other.mode() == "queue"
    assert second.steps == ["get"]
    monkeypatch.setattr(module, "BELIEVED", -1.0)
    assert await other.mode() == "drop"
    assert second.steps == ["get", "get"]


async def test_where_nothing_may_be_set_the_store_is_not_asked() -> None:
    """Neither about guilds nor, whatever may be set, about direct messages."""
    store = Store()
    nothing, something = Process(store, Settings()), Process(store)
    assert await nothing.mode() == await something.mode(Place(channel="9")) == "queue"
    assert store.steps == []


async def test_keys_that_the_operator_takes_away_or_gives_hold_at_once() -> None:
    """What was set is kept, and holds again when it may be set again."""
    bot = Process(Store(), settings("mode", "inbox"))
    await bot.guilds.set("1", "mode", "drop")
    await bot.guilds.set("1", "inbox", "7")
    assert await bot.mode() == "drop"
    bot.rules.adopt(settings("inbox"))
    assert bot.rules.conversation(HERE).mode == "queue"
    assert (await bot.mode(), bot.rules.conversation(HERE).inbox) == ("queue", 7)
    bot.rules.adopt(settings("mode"))
    assert (await bot.mode(), bot.rules.conversation(HERE).inbox) == ("drop", 20)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("inbox", "7", 7),
        ("reactions", "false", False),
        ("debounce", "2s", 2.0),
        ("responder", "Echo", "Echo"),
    ],
)
async def test_values_are_read_as_in_the_settings_file(key: str, text: str, value: object) -> None:
    """Numbers, switches and durations, as people write them."""
    bot = Process(Store(), settings("inbox", "reactions", "debounce", "responder"))
    await bot.guilds.set("1", key, text)
    assert await bot.guilds.texts("1") == {key: text}
    await bot.guilds.learn(HERE)
    assert getattr(bot.rules.conversation(HERE), key) == value


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("inbox", "many", 'inbox: "many" is no whole number; write digits only'),
        ("inbox", "0", 'inbox: "0" is too small; the least is 1'),
        ("reactions", "maybe", 'reactions: "maybe" is neither; write true or false'),
        (
            "debounce",
            "2",
            'debounce: "2" is no duration; write a number and ms, s, m, h or d, such as "15s"',
        ),
        ("language", "eng", 'language: there are no texts in "eng"; did you mean en?'),
    ],
)
async def test_a_wrong_value_is_refused_in_the_words_of_the_settings_file(
    key: str, text: str, problem: str
) -> None:
    """One line, and nothing is kept."""
    bot = Process(Store(), settings("inbox", "reactions", "debounce", "language"))
    with pytest.raises(ConfigInvalid) as raised:
        await bot.guilds.set("1", key, text)
    assert list(raised.value.lines) == [f"/settings: {problem}"]
    assert await bot.guilds.texts("1") == {}


async def test_what_is_not_understood_any_more_is_left_out() -> None:
    """An older build may have taken it; the other choices hold all the same."""
    store = Store()
    bot = Process(store, settings("mode", "inbox"))
    await store.port.put(Scope("guild/1"), "settings.mode", b"fight")
    await bot.guilds.set("1", "inbox", "7")
    assert (await bot.mode(), bot.rules.conversation(HERE).inbox) == ("queue", 7)


async def test_while_the_store_is_away_what_was_known_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And nobody is kept from hearing."""
    store = Store()
    bot = Process(store)
    await bot.guilds.set("1", "mode", "drop")
    assert await bot.mode() == "drop"
    monkeypatch.setattr(module, "BELIEVED", -1.0)
    store.down = True
    assert await bot.mode() == "drop"
    assert await bot.mode(Place(channel="9", guild="8")) == "queue"


async def test_a_guild_that_is_forgotten_has_set_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept with what belongs to the guild."""
    store = Store()
    bot = Process(store)
    await bot.guilds.set("1", "mode", "drop")
    while not (await store.port.forget(Owner("guild/1"))).done:
        pass
    monkeypatch.setattr(module, "BELIEVED", -1.0)
    assert await bot.mode() == "queue"


async def test_guilds_asked_about_longest_ago_are_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is remembered has a bound."""
    monkeypatch.setattr(module, "REMEMBERED", 2)
    store = Store()
    bot = Process(store)
    for guild in ("1", "2", "1", "3", "1", "2"):
        await bot.mode(Place(channel="9", guild=guild))
    assert len(bot.guilds._known) == 2
    assert store.steps == ["get"] * 4


@pytest.mark.parametrize(
    ("key", "hint"),
    [("moed", "did you mean mode?"), ("lease", "known here: buttons, ")],
)
def test_only_keys_of_a_conversation_may_be_left_to_admins(key: str, hint: str) -> None:
    """A typing error in the operator's list is found at the start."""
    with pytest.raises(ValueError, match=rf'"{key}" is no key of \[conversation\]; {hint}'):
        settings(key)


async def test_what_is_known_holds_while_it_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said meanwhile goes by the words of before, not by the operator's."""
    store = Store()
    bot = Process(store)
    await bot.guilds.set("1", "mode", "drop")
    assert await bot.mode() == "drop"
    monkeypatch.setattr(module, "BELIEVED", 0.0)
    store.steps.clear()
    answered = store.answering = asyncio.Event()
    reading = asyncio.create_task(bot.mode())
    await wait_until(lambda: "get" in store.steps, description="it is being read")
    assert bot.rules.conversation(HERE).mode == "drop"
    answered.set()
    assert await reading == "drop"


async def test_a_change_holds_at_once_although_it_came_while_the_old_was_read() -> None:
    """The reading began before it, and is believed no longer than until the next."""
    store = Store()
    bot = Process(store)
    answered = store.answering = asyncio.Event()
    reading = asyncio.create_task(bot.mode())
    await wait_until(lambda: "get" in store.steps, description="it is being read")
    store.answering = None
    await bot.guilds.set("1", "mode", "drop")
    answered.set()
    await reading
    assert await bot.mode() == "drop"
