"""Which whole messages mean stop, in each language, and which only look like it."""

import functools
import tomllib
from pathlib import Path

import pytest

from bot.stopwords import LONGEST_MESSAGE, StopPhrases, shipped_languages

CORPUS = tomllib.loads(Path(__file__).with_name("stop_phrases.toml").read_text(encoding="utf-8"))


@functools.cache
def phrases(*languages: str) -> StopPhrases:
    """Load the phrases of *languages* once."""
    return StopPhrases(languages)


def corpus(kind: str) -> list[tuple[str, str]]:
    """Give each text of the corpus with its language."""
    return [(language, text) for language, lists in CORPUS.items() for text in lists[kind]]


@pytest.mark.parametrize(("language", "text"), corpus("stop"))
def test_a_stop_phrase_stops(language: str, text: str) -> None:
    """What a person writes to end a reply is understood with their language alone and with all."""
    assert phrases(language).matches(text)
    assert phrases(*shipped_languages()).matches(text)


@pytest.mark.parametrize(("language", "text"), corpus("ordinary"))
def test_a_near_miss_is_ordinary(language: str, text: str) -> None:
    """A message that only resembles a stop is none, in its own language and in any other."""
    assert not phrases(language).matches(text)
    assert not phrases(*shipped_languages()).matches(text)


def test_the_corpus_is_large_and_half_of_it_are_near_misses() -> None:
    """The lists above hold at least two hundred texts, as many that miss as that hit."""
    stops = [text for lists in CORPUS.values() for text in lists["stop"]]
    ordinary = [text for lists in CORPUS.values() for text in lists["ordinary"]]
    assert len(stops) + len(ordinary) >= 200
    assert len(ordinary) >= len(stops)
    assert list(CORPUS) == ["en", "es", "de", "ja"]


@pytest.mark.parametrize("language", shipped_languages())
def test_every_line_of_a_shipped_list_matches(language: str) -> None:
    """Each phrase of a list is found as written, and no courtesy alone is a stop."""
    lines = _lines(language)
    section = lines.index("please:")
    stops = StopPhrases([language])
    assert [line for line in lines[:section] if not stops.matches(line)] == []
    assert [line for line in lines[section + 1 :] if stops.matches(line)] == []
    assert lines[section + 1 :] != []


@pytest.mark.parametrize("language", shipped_languages())
def test_no_shipped_list_repeats_itself(language: str) -> None:
    """A phrase stands in its list once."""
    lines = _lines(language)
    assert sorted(set(lines)) == sorted(lines)


def test_a_courtesy_of_another_language_makes_no_stop() -> None:
    """Only the words for please of the phrase's own language are taken off."""
    assert not StopPhrases(["en", "de"]).matches("enough bitte")


def test_b33_a_stop_and_its_please_still_match_when_joined() -> None:
    """A stop and the "please" that was sent after it are a stop, whatever joins the two."""
    for joint in (" ", "\n", ", ", "... "):
        assert phrases("en").matches(f"stop{joint}please")


def test_only_the_chosen_languages_are_understood() -> None:
    """A phrase of a language that is not switched on is an ordinary message."""
    assert not StopPhrases(["en"]).matches("basta")
    assert not StopPhrases([]).matches("stop")


def test_an_unknown_language_is_refused_by_name() -> None:
    """The error names the languages there are, and nothing outside the lists is read."""
    with pytest.raises(ValueError, match=r"'fr'; there are de, en, es, ja"):
        StopPhrases(["en", "fr"])
    with pytest.raises(ValueError, match="no stop phrases for"):
        StopPhrases(["../stopwords/en"])


def test_the_operators_phrases_are_matched_like_ours() -> None:
    """An extra phrase loses case, punctuation and courtesies as the shipped ones do."""
    stops = StopPhrases(["en"], extra=["Red Light!"])
    assert stops.matches("red light")
    assert stops.matches("RED LIGHT, please 🚦")
    assert not stops.matches("the red light")


def test_an_extra_phrase_needs_no_language() -> None:
    """An operator may do without the shipped lists."""
    assert StopPhrases([], extra=["whoa"]).matches("Whoa!")


def test_an_extra_phrase_of_nothing_but_signs_is_refused() -> None:
    """Such a phrase would make every message without words a stop."""
    with pytest.raises(ValueError, match="'🛑' is no stop phrase"):
        StopPhrases(["en"], extra=["🛑"])


def test_a_wall_of_text_is_not_looked_at() -> None:
    """Beyond the longest message the answer is no, even if all of it would be taken off."""
    stops = StopPhrases(["en"])
    assert stops.matches("stop".ljust(LONGEST_MESSAGE, "!"))
    assert not stops.matches("stop".ljust(LONGEST_MESSAGE + 1, "!"))


def _lines(language: str) -> list[str]:
    """Return the lines of a shipped list that are neither empty nor a comment."""
    path = Path(__file__).parents[2] / "bot" / "stopwords" / f"{language}.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
