"""Characters: what Discord counts, what a person sees, what must stay in one piece."""

from collections.abc import Iterator

import regex

#: Members of a set in an expression: white space, controls, what Unicode has renderers ignore
#: (joiners, marks of direction, fillers, variation selectors, tags), and the blank of braille,
#: which takes room, yet nobody sees it.
BLANK = r"\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800"

_BLANKS = regex.compile(f"[{BLANK}]*")
_VISIBLE = regex.compile(f"[^{BLANK}]")
_LAST_VISIBLE = regex.compile(f"(?r)[^{BLANK}]")

#: Ignorable characters that change the look of the one before them: ❤ or ❤️, a black flag or
#: England's. Eight are enough for every emoji that is; more are no emoji.
MOST_EXTENDERS = 8
_EXTENDERS = regex.compile(
    r"[\u034f\u200c\u200d\ufe00-\ufe0f\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
    f"{{0,{MOST_EXTENDERS}}}"
)

#: An extended grapheme cluster, what a reader calls one character.
_CLUSTER = regex.compile(r"\X")


def units(text: str) -> int:
    """Count the UTF-16 code units of *text*, which is how Discord measures a message."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def blank(text: str) -> bool:
    """Tell whether a person sees nothing of *text*."""
    return _VISIBLE.search(text) is None


def first_visible(text: str, start: int = 0) -> int | None:
    """Return the index of the first visible character at or after *start*."""
    found = _VISIBLE.search(text, start)
    return found.start() if found else None


def last_visible(text: str, start: int = 0) -> int | None:
    """Return the index of the last visible character that is not before *start*."""
    found = _LAST_VISIBLE.search(text, start)
    return found.start() if found else None


def visible_backwards(text: str) -> Iterator[int]:
    """Yield the index of each visible character, last first."""
    return (found.start() for found in _LAST_VISIBLE.finditer(text))


def after_extenders(text: str, start: int) -> int:
    """Return where the extenders end that begin at *start*."""
    found = _EXTENDERS.match(text, start)
    return found.end() if found else start


def after_blanks(text: str, start: int) -> int:
    """Return where the run of blanks ends that begins at *start*."""
    found = _BLANKS.match(text, start)
    return found.end() if found else start


def clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each grapheme cluster of more than one code point."""
    if text.isascii():
        return
    for found in _CLUSTER.finditer(text):
        start, end = found.span()
        if end - start > 1:
            yield start, end


def splits_surrogates(text: str, index: int) -> bool:
    """Tell whether *index* lies between two surrogates that are one character."""
    return "\ud800" <= text[index - 1] <= "\udbff" and "\udc00" <= text[index] <= "\udfff"


def encodable(text: str) -> str:
    """
    Join surrogates that belong together and replace those that stand alone by U+FFFD.

    A model's stream may deliver the halves of one emoji in two chunks.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
