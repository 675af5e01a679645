"""
Which messages mean stop: whole messages only, from one list a language.

A list is a text file in this package: a phrase a line, comments after `#`, and below a line
`please:` the words that may stand before or after a phrase in that language.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from importlib.resources import files

import regex

#: Characters. Longer than any phrase, with room for exclamation marks; what is longer is not looked
#: at, so that a wall of text costs nothing.
LONGEST_MESSAGE = 200

_PLEASE = "please:"

#: At the end of a message: a custom emoji, a short name such as :octagonal_sign:, a keycap, any
#: other emoji (a skin tone is a symbol of its own), a tilde or the like.
_LAST_SIGN = regex.compile(
    r"(?:<a?:\w+:\d+>|:[\w+-]+:|[0-9#*]\u20e3|[\p{S}\p{Extended_Pictographic}])[\s\p{P}]*\Z"
)
_IGNORABLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cc}--\s]", regex.V1)
#: Left out rather than replaced by a space: that's, reicht's.
_APOSTROPHE = regex.compile(r"['’ʼ]")
_PUNCTUATION = regex.compile(r"\p{P}")
#: Scripts whose words are not kept apart by spaces.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー]")


class StopPhrases:
    """The phrases of some languages, and the operator's own."""

    def __init__(self, languages: Sequence[str], extra: Sequence[str] = ()) -> None:
        """
        Load the lists of *languages*, such as "en", and add *extra* phrases to each.

        Raise ValueError for a language without a list, naming those that have one, and for an
        extra phrase of which nothing is left to compare, such as an emoji.
        """
        own = [_own(phrase) for phrase in extra]
        self._phrases: set[str] = set(own)
        for language in languages:
            phrases, courtesies = _read(language)
            self._phrases.update(_polite([*phrases, *own], courtesies))

    def matches(self, text: str) -> bool:
        """
        Tell whether *text*, from which a mention of us has been removed, means stop.

        It does if it is one of the phrases as a whole, apart from case, punctuation, emoji at the
        end, white space and a "please" before or after.
        """
        return len(text) <= LONGEST_MESSAGE and _plain(text) in self._phrases


def shipped_languages() -> list[str]:
    """Name the languages that have a list, in alphabetical order."""
    names = (entry.name for entry in files(__name__).iterdir())
    return sorted(name.removesuffix(".txt") for name in names if name.endswith(".txt"))


def _own(phrase: str) -> str:
    plain = _plain(phrase)
    if not plain:
        raise ValueError(f"{phrase!r} is no stop phrase: without punctuation and emoji it is empty")
    return plain


def _read(language: str) -> tuple[list[str], list[str]]:
    """Return the phrases of *language* and its words for please."""
    if language not in (shipped := shipped_languages()):
        raise ValueError(f"no stop phrases for {language!r}; there are {', '.join(shipped)}")
    text = files(__name__).joinpath(f"{language}.txt").read_text(encoding="utf-8")
    lines = [stripped for line in text.splitlines() if (stripped := line.partition("#")[0].strip())]
    section = lines.index(_PLEASE)
    plain = [_plain(line) for line in lines]
    return plain[:section], plain[section + 1 :]


def _polite(phrases: Sequence[str], courtesies: Sequence[str]) -> Iterator[str]:
    """Yield each phrase alone, and with each courtesy before it and after it."""
    for phrase in phrases:
        yield phrase
        for courtesy in courtesies:
            yield _joined(courtesy, phrase)
            yield _joined(phrase, courtesy)


def _joined(left: str, right: str) -> str:
    """Join two phrases as a writer of their script would."""
    unspaced = left and right and _UNSPACED.match(left[-1]) and _UNSPACED.match(right[0])
    return f"{left}{right}" if unspaced else f"{left} {right}".strip()


def _plain(text: str) -> str:
    """Return *text* without what does not matter, spaced as a phrase in a list is."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    folded = _IGNORABLE.sub("", folded).strip()
    while found := _LAST_SIGN.search(folded):
        folded = folded[: found.start()]
    words = _PUNCTUATION.sub(" ", _APOSTROPHE.sub("", folded)).split()
    plain = ""
    for word in words:
        plain = _joined(plain, word)
    return plain
