"""From settings to rules: what holds where, and from when."""

from collections.abc import Callable

import pytest

from bot.access import Asking
from bot.config import Place, Settings
from bot.rules import Rulebook

#: A thread, in a channel, in a category, in a guild; and a place that nobody has named.
THREAD = Place(channel="4", parent="3", category="2", guild="1")
ELSEWHERE = Place(channel="9", guild="8")


def book(**tables: object) -> Rulebook:
    """Put settings in force that differ from the defaults in *tables*."""
    return Rulebook(Settings.model_validate(tables))


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("responder", "Parrot", lambda book, place: book.door(place).responder),
        ("mode", "drop", lambda book, place: book.door(place).mode),
        ("follow_mode", "queue", lambda book, place: book.door(place).follow_mode),
        ("debounce", "2s", lambda book, place: book.door(place).debounce),
        ("debounce_most", "9s", lambda book, place: book.door(place).debounce_most),
        ("followups", "off", lambda book, place: book.door(place).followups),
        ("max_followups", 9, lambda book, place: book.door(place).max_followups),
        ("inbox", 9, lambda book, place: book.door(place).inbox),
        ("inbox_per_person", 9, lambda book, place: book.door(place).inbox_per_person),
        ("overflow", "drop_oldest", lambda book, place: book.door(place).overflow),
        ("expire_after", "2m", lambda book, place: book.claim(place).expire_after),
        ("reply_in", "thread", lambda book, place: book.door(place).threads),
        ("language", "de", lambda book, place: book.texts(place)),
        ("ping_author", "never", lambda book, place: book.turn(place).ping_author),
        ("partial", "delete", lambda book, place: book.turn(place).delete_partial),
        ("final", "new", lambda book, place: book.turn(place).final_anew),
        ("max_pages", 2, lambda book, place: book.turn(place).max_pages),
        ("buttons", False, lambda book, place: book.turn(place).buttons),
        ("reactions", False, lambda book, place: book.turn(place).reactions),
        pytest.param("reactions", False, Rulebook.reactions, id="notices"),
    ],
)
def test_each_setting_of_a_conversation_holds_where_it_was_set(
    key: str, value: object, rule: Callable[[Rulebook, Place], object]
) -> None:
    """In that channel and its threads as if it were set for all, elsewhere not at all."""
    everywhere, there = book(conversation={key: value}), book(channels={"3": {key: value}})
    assert rule(there, THREAD) == rule(everywhere, THREAD) == rule(everywhere, ELSEWHERE)
    assert rule(there, ELSEWHERE) == rule(book(), ELSEWHERE) != rule(there, THREAD)


def test_chat_answers_where_a_model_is_set_and_demo_elsewhere() -> None:
    """Unless a responder is named, there or for all."""
    cogs = {"chat": {"model": "openai:x"}}
    assert book(cogs=cogs).responder(ELSEWHERE) == "Chat"
    there = book(guilds={"1": {"cogs": cogs}})
    assert (there.responder(THREAD), there.responder(ELSEWHERE)) == ("Chat", "Demo")
    named = book(guilds={"1": {"cogs": cogs}}, conversation={"responder": "Echo"})
    assert (named.responder(THREAD), named.responder(ELSEWHERE)) == ("Echo", "Echo")


def test_other_settings_hold_from_the_moment_they_are_adopted() -> None:
    """For every rule that is asked for after it; those handed out before do not change."""
    rules = book(access={"operators": [7]}, stop={"extra": ["red light"]})
    assert rules.is_stop("red light")
    before = rules.door(THREAD)
    later = {
        "access": {"operators": [5], "blocked": [6]},
        "conversation": {"inbox": 2},
        "limits": {"person_turns_per_minute": 1, "owner_turns_per_day": 2},
    }
    rules.adopt(Settings.model_validate(later))
    six = Asking("6", frozenset(), "1", frozenset())
    assert rules.operators() == {"5"}
    assert not rules.allows(six)
    assert not rules.is_stop("red light")
    assert (rules.quota().person_per_minute, rules.quota().owner_per_day) == (1, 2)
    assert (before.inbox, rules.door(THREAD).inbox) == (20, 2)
