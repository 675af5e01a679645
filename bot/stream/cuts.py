"""
Where a page ends.

A cut never tears what belongs together as long as that fits a page, and it is made at the best
place of the second half: between paragraphs, else between the items of a list, between lines,
between sentences. Failing these it is the last gap between words, and only then inside a word.
"""

import bisect
from collections.abc import Callable, Iterator
from enum import IntEnum
from itertools import accumulate, takewhile

import regex

from bot.stream.fences import Fence, fence_after
from bot.stream.glyphs import (
    blank,
    clusters,
    first_visible,
    last_visible,
    splits_surrogates,
    visible_backwards,
)
from bot.stream.wholes import PHRASES, WHOLES, spans

_HEADING = regex.compile(r" {0,3}#{1,6} ")
_LIST_ITEM = regex.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]")

#: What may stand between the end of a sentence and the space after it.
_CLOSERS = r"""["'”’»)\]*_`]*"""
#: The start of a sentence. What stands on both sides of the space rules out "1." and "e.g.".
_SENTENCE = regex.compile(
    rf"(?r)(?<=[\p{{L}}\p{{N}}\p{{Pe}}\p{{Pf}}\"'*_`]{{2}}[.!?…]+{_CLOSERS})\s++(?=\S)(?![\p{{Ll}}\p{{N}}])"
    r"|(?<=[。!?][」』)】]*)(?=[^\s」』)】。!?])"
)

#: Scripts that are written without spaces: the gap is between any two characters, save where a
#: line must not end (opening brackets) or begin (closing marks, small kana).
_EAST_ASIAN = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
_NOT_FIRST = r"(?![\p{Pe}\p{Pf}\p{Po}ーゝゞヽヾ々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ])"
_WORD = regex.compile(
    r"(?r)\s++(?=\S)"
    rf"|(?<={_EAST_ASIAN})(?=\S){_NOT_FIRST}"
    rf"|(?<=[^\s\p{{Ps}}\p{{Pi}}])(?={_EAST_ASIAN}){_NOT_FIRST}"
)


class _Harm(IntEnum):
    """The worst that a cut does."""

    NONE = 0
    #: On one side a code block is left without content.
    HOLLOW = 1
    #: Code or emphasised text within a line is torn.
    TEARS_PHRASE = 2
    #: A mention, a link or the like is torn, because it is tied to more than fits a page.
    TEARS_WHOLE = 3
    #: A cluster is torn, because it fills the page.
    TEARS_CLUSTER = 4


class _Gap(IntEnum):
    """What lies between two lines; the greater, the better the place for a cut."""

    LINE = 1
    ITEM = 2
    PARAGRAPH = 3


class _Overflow:
    """A body that has just outgrown its page, by its last character."""

    def __init__(self, body: str, fence: Fence | None) -> None:
        self.body = body
        # A cut after the first visible character and not after the last one leaves some of them
        # on both sides.
        self.first = first_visible(body) or 0
        self.last = last_visible(body) or 0
        self.middle = (self.first + self.last) // 2
        self._lines = body.split("\n")
        lengths = (len(line) + 1 for line in self._lines)
        self._starts = list(accumulate(lengths, initial=0))
        #: The fence that is open before each line, and after the last one.
        self._fences = [fence]
        for line in self._lines:
            self._fences.append(fence_after(self._fences[-1], line))
        self._gaps = [
            (self._starts[index], gap)
            for index in range(len(self._lines) - 1, 0, -1)
            if (gap := self._gap(index)) is not None
        ]
        self._torn = self._tears()

    def gaps(self, wanted: _Gap) -> Iterator[int]:
        """Yield the starts of the lines with at least *wanted* before them, last first."""
        return (start for start, gap in self._gaps if gap >= wanted)

    def sentences(self) -> Iterator[int]:
        """Yield where sentences begin, last first."""
        return (found.end() for found in _SENTENCE.finditer(self.body))

    def words(self) -> Iterator[int]:
        """Yield where words begin, last first; after a line break, where the line begins."""
        for found in _WORD.finditer(self.body):
            yield self.body.rfind("\n", found.start(), found.end()) + 1 or found.end()

    def characters(self) -> Iterator[int]:
        """Yield where there is something to be seen, last first: blanks follow what is before."""
        return visible_backwards(self.body)

    def harm(self, index: int) -> _Harm | None:
        """Tell the worst that a cut at *index* does; None if it is out of the question."""
        if not self.first < index <= self.last or splits_surrogates(self.body, index):
            return None
        torn = self._torn[index]
        return _Harm(torn) if torn else _Harm.HOLLOW if self._hollows(index) else _Harm.NONE

    def _hollows(self, index: int) -> bool:
        """Tell whether a cut at *index* leaves a code block without content, on either side."""
        line = bisect.bisect_right(self._starts, index) - 1
        fence = fence_after(self._fences[line], self.body[self._starts[line] : index])
        if fence is None:
            return False
        content = self._content(line)
        if content is not None and (content > index or blank(self.body[content:index])):
            return True
        return fence.may_close(self.body[first_visible(self.body, index) :])

    def _content(self, line: int) -> int | None:
        """Return where the content begins of the fence that is open in *line*, if on this page."""
        while line >= 0 and self._fences[line] is not None:
            line -= 1
        return self._starts[line + 1] if line >= 0 else None

    def _gap(self, index: int) -> _Gap | None:
        """Judge the gap before a line; None where nobody would cut."""
        line, above = self._lines[index], self._lines[index - 1]
        if blank(line):
            return None
        if self._fences[index] is not None:
            return _Gap.ITEM if blank(above) else _Gap.LINE
        if self._below_heading(index):
            return None
        if self._fences[index - 1] is not None or self._fences[index + 1] is not None:
            return _Gap.PARAGRAPH
        if _HEADING.match(line) or (blank(above) and not line[0].isspace()):
            return _Gap.PARAGRAPH
        return _Gap.ITEM if _LIST_ITEM.match(line) else _Gap.LINE

    def _below_heading(self, index: int) -> bool:
        above = next((n for n in range(index - 1, -1, -1) if not blank(self._lines[n])), 0)
        return self._fences[above] is None and _HEADING.match(self._lines[above]) is not None

    def _tears(self) -> bytearray:
        """Say for each index what a cut there tears that would fit a page."""
        torn = bytearray(len(self.body) + 1)
        # The worst comes last, for they overlap.
        ties = (
            (spans(PHRASES, self.body), _Harm.TEARS_PHRASE),
            (spans(WHOLES, self.body), _Harm.TEARS_WHOLE),
            (clusters(self.body), _Harm.TEARS_CLUSTER),
        )
        for found, harm in ties:
            for start, end in found:
                if start > self.first or end < len(self.body):
                    torn[start + 1 : end] = bytes([harm]) * (end - start - 1)
        return torn


def cut(body: str, fence: Fence | None) -> int:
    """
    Return where to end a page whose *body* has just outgrown it by its last character.

    *fence* is the one that is open where the body begins. The index returned lies within the body,
    with something to be seen on both sides.
    """
    page = _Overflow(body, fence)
    places: tuple[tuple[Callable[[], Iterator[int]], int], ...] = (
        (lambda: page.gaps(_Gap.PARAGRAPH), page.middle),
        (lambda: page.gaps(_Gap.ITEM), page.middle),
        (lambda: page.gaps(_Gap.LINE), page.middle),
        (page.sentences, page.middle),
        (page.words, 0),
        (page.characters, 0),
    )
    for bearable in _Harm:
        for indices, least in places:
            for index in takewhile(least.__le__, indices()):
                harm = page.harm(index)
                if harm is not None and harm <= bearable:
                    return index
    raise AssertionError(f"a page of {len(body)} characters is too small to be cut")
