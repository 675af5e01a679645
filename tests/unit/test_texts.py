"""The texts that people see: complete in every language, and the operator's to change."""

from pathlib import Path

import pytest

from bot import stopwords, texts
from bot.config import load
from bot.endings import Ending
from bot.errors import ConfigInvalid
from bot.texts import ENGLISH, LONGEST, NAMES, complaint, shipped, shipped_languages, worded


def blanks(text: str) -> frozenset[str]:
    """The words in braces."""
    return texts._blanks(text)


def refused(tmp_path: Path, toml: str) -> list[str]:
    """Load settings that are refused; the problems, without the file's name."""
    file = tmp_path / "interlock.toml"
    file.write_text(toml, encoding="utf-8")
    with pytest.raises(ConfigInvalid) as caught:
        load(file, {}, {})
    return [line.removeprefix(f"{file}: ") for line in caught.value.lines]


@pytest.mark.parametrize("language", shipped_languages())
def test_every_language_of_ours_says_everything_and_fills_in_the_same(language: str) -> None:
    """What a translation forgets would be said in English, or without a name."""
    own = texts._read(language)
    assert own.keys() == set(NAMES)
    english = shipped(ENGLISH)
    for name, text in own.items():
        assert blanks(text) == blanks(getattr(english, name)), name
        assert complaint(name, text) is None, name


def test_the_languages_of_stops_and_of_texts_are_the_same() -> None:
    """Whoever is understood is also answered."""
    assert list(shipped_languages()) == stopwords.shipped_languages()


def test_the_operator_s_words_lie_over_ours() -> None:
    """A text that is not given stays as it was; so does every other language."""
    own = {"de": {"busy": "Gleich!"}}
    assert worded("de", own).busy == "Gleich!"
    assert worded("de", own).expired == shipped("de").expired
    assert worded("es", own).busy == shipped("es").busy


def test_a_language_of_the_operator_s_own_falls_back_to_english() -> None:
    """Text by text, so that a translation may grow."""
    said = worded("fr", {"fr": {"busy": "Un instant !"}})
    assert (said.busy, said.expired) == ("Un instant !", shipped(ENGLISH).expired)


def test_a_mark_stands_on_a_line_of_its_own() -> None:
    """Behind whatever was written."""
    assert texts.here().mark(Ending.STOPPED) == "\n-# ⏹ stopped"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("busy", "x" * (LONGEST + 1), "is 501 characters long; at most 500 are allowed"),
        ("stop_button", "x" * 81, "is 81 characters long; at most 80 are allowed"),
        ("busy", "  ", "is empty; leave the key out to have our own text"),
        ("busy", "{", "has braces that cannot be read"),
        ("busy", "{count}", "cannot be filled in with {count}; it may have no braces"),
        ("share_full", "{counts}", "cannot be filled in with {counts}; it may have {count}"),
        ("share_full", "{count.real}", "cannot be filled in with {count.real}"),
        ("share_full", "{}", "cannot be filled in with {}"),
    ],
)
def test_a_text_that_could_not_be_said_is_refused(name: str, text: str, problem: str) -> None:
    """At the start, not when it is needed."""
    assert (complaint(name, text) or "").startswith(problem)


@pytest.mark.parametrize("text", ["plain", "{count} of {count}", "{{braces}}", "{count:>3}"])
def test_a_text_may_leave_out_and_repeat_what_it_is_filled_in_with(text: str) -> None:
    """Languages differ."""
    assert complaint("share_full", text) is None


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        (
            '[conversation]\nlanguage = "dee"',
            'conversation.language: there are no texts in "dee"; did you mean de?',
        ),
        (
            '[channels."17"]\nlanguage = "xx"',
            'channels.17.language: there are no texts in "xx"; known here: de, en, es, ja',
        ),
        (
            '[texts.en]\nbusi = "no"',
            "texts.en.busi: unknown key; did you mean texts.en.busy?",
        ),
        (
            '[texts.en]\nbusy = ""',
            "texts.en.busy: is empty; leave the key out to have our own text",
        ),
    ],
)
def test_what_is_wrong_with_words_is_said_in_one_line(
    tmp_path: Path, toml: str, problem: str
) -> None:
    """Which key, what is wrong, what would be right."""
    assert refused(tmp_path, toml) == [problem]


def test_a_language_that_the_operator_adds_can_be_asked_for(tmp_path: Path) -> None:
    """Its table makes it known."""
    file = tmp_path / "interlock.toml"
    file.write_text('[conversation]\nlanguage = "fr"\n[texts.fr]\nbusy = "Un instant !"')
    settings = load(file, {}, {}).settings
    assert worded(settings.conversation.language, settings.texts).busy == "Un instant !"
