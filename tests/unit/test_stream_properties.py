"""What holds for every text and every way of cutting it into chunks."""

import re
from collections.abc import Sequence
from itertools import pairwise

import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.stream import PageText, Stream, units

#: Small pages make many cuts.
LIMIT, RESERVE = 240, 40
ROOM = LIMIT - RESERVE

#: How long an example takes says more about the machine than about the code.
at_ease = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# fmt: off
FRAGMENTS = [
    "a", "word ", "Sentence one. ", "\n", "\n\n", "\r\n", "\t", " ", "        ", "x" * 50,
    "```", "```py\n", "```\n", "````md\n", "````\n", "~~~\n", "~~~sh\n", "`", "``", "`code x`", "~",
    "``` info text too long for a language\n", "`" * 9, "> ", "> ```js\n", "    ", "# Heading\n",
    "- item\n", "1. item\n", "| a | b |\n", "**bold words**", "||", "[", "](", "<", "<@", "</",
    "<@123456789>", "<:smile:1234567>", "<t:123:R>", "https://example.org/", "[text](https://e.org)",
    "🦊", "👩‍👩‍👧", "🇩🇪🇫🇷", "e\u0301", "क्षि", "❤️", "\u1112\u1161\u11ab", "日本語、テスト。",
    "\u200b", "\ufe0f", "\u0301", "\0", "\ud83e", "\udd8a", "\u2800",
]
# fmt: on
TEXTS = st.one_of(
    st.lists(
        st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from([1, 1, 1, 2, 7, 40])).map(
            lambda repeated: repeated[0] * repeated[1]
        ),
        max_size=60,
    ).map("".join),
    st.text(st.characters(), max_size=600),
)


def pieces(text: str, cuts: Sequence[int]) -> list[str]:
    """Cut *text* at *cuts*, which wrap around its length."""
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


def paged(chunks: Sequence[str]) -> list[PageText]:
    """Return the pages of *chunks*."""
    stream = Stream(LIMIT, RESERVE)
    for chunk in chunks:
        stream.write(chunk)
    return list(stream.pages)


@given(TEXTS, st.lists(st.integers(0, 5000), max_size=20))
@at_ease
def test_the_pages_are_the_text_however_it_came(text: str, cuts: list[int]) -> None:
    """Joined, the bodies are what was written; pages do not depend on the chunks."""
    pages = paged(pieces(text, cuts))
    assert "".join(page.body for page in pages) == text
    assert pages == paged([text]) == paged(list(text))


@given(TEXTS)
@at_ease
def test_each_page_can_be_sent_at_every_moment(text: str) -> None:
    """What is shown fits, can be encoded, and is blank only if all of the text is."""
    stream = Stream(LIMIT, RESERVE)
    for character in text:
        stream.write(character)
        last = stream.pages[-1]
        assert units(last.shown) <= ROOM
        last.shown.encode()
    for page in stream.pages:
        assert units(page.shown) <= ROOM
        assert page.shown == page.shown.rstrip()
        assert stream.blank() or regex.search(r"[^\s\p{Cc}\p{Cf}\ufe0f\u2800]", page.shown)


@given(TEXTS)
@at_ease
def test_a_closed_page_never_changes(text: str) -> None:
    """Once there is a page after it, a page stays as it is."""
    stream = Stream(LIMIT, RESERVE)
    before: list[PageText] = []
    for character in text:
        stream.write(character)
        pages = list(stream.pages)
        assert pages[: len(before) - 1] == before[:-1]
        before = pages


@given(TEXTS)
@at_ease
def test_a_page_that_is_shown_needs_no_further_closing(text: str) -> None:
    """Written anew, what a page shows is shown unchanged: every fence in it is closed."""
    for page in paged([text]):
        assert "".join(again.shown for again in paged([page.shown])) == page.shown


# ----------------------------------------------------------------------- texts that are well formed

PROSE = st.lists(st.sampled_from(["some", "words", "end.", "here,"]), min_size=1, max_size=60).map(
    lambda words: ("prose", "", [" ".join(words)])
)
CODE = st.tuples(
    st.sampled_from(["", "py", "c++", "objective-c"]),
    st.lists(st.text("ab ()=\t", max_size=60), max_size=30),
).map(lambda block: ("code", block[0], [f"{n}:{line}".rstrip() for n, line in enumerate(block[1])]))


def blocks_of(shown: str) -> list[tuple[str, str, str]]:
    """Read a page as a reader of Markdown does: (kind, language, line) of each line with text."""
    read: list[tuple[str, str, str]] = []
    language: str | None = None
    for line in shown.split("\n"):
        if line.startswith("```"):
            assert language is None or line == "```"
            language = line[3:] if language is None else None
        elif line:
            read.append(("prose", "", line) if language is None else ("code", language, line))
    assert language is None
    return read


@given(st.lists(st.one_of(PROSE, CODE), max_size=12), st.sampled_from(["```", "~~~"]))
@at_ease
def test_code_is_code_in_its_language_on_every_page(
    blocks: list[tuple[str, str, list[str]]], fence: str
) -> None:
    """Each line of code stands in a closed fence of its language, and no prose does."""
    text, expected = "", []
    for kind, language, lines in blocks:
        body = "\n".join(lines)
        text += f"{fence}{language}\n{body}\n{fence}\n" if kind == "code" else f"{body}\n\n"
        expected += [(kind, language, part) for line in lines for part in line.split()]
    read = [
        (kind, language, part)
        for page in paged([text])
        for kind, language, line in blocks_of(page.shown.replace("~~~", "```"))
        for part in line.split()
    ]
    assert read == expected


WHOLE = st.sampled_from(
    [
        "<@123456789>",
        "<#123456789>",
        "<a:dance:123456789>",
        "<t:1700000000:f>",
        "</ask:123456789>",
        "https://example.org/some/path",
        "[some text](https://example.org)",
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "👍🏽",
        "e\u0301",
        "क्षि",
    ]
)
FILLING = st.one_of(
    st.text("abc .\n", max_size=30), st.integers(1, ROOM).map("x".__mul__), st.just("文章")
)


@given(st.lists(st.tuples(FILLING, WHOLE), max_size=40))
@at_ease
def test_nothing_that_belongs_together_is_torn(parts: list[tuple[str, str]]) -> None:
    """No page ends within a mention, an emoji, a link or a character."""
    text, inside = "", set[int]()
    for filling, whole in parts:
        # A link goes on to the next space.
        text += f"{filling} "
        inside.update(range(len(text) + 1, len(text) + len(whole)))
        text += f"{whole} "
    end = 0
    for page in paged([text]):
        end += len(page.body)
        assert end not in inside


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=ROOM // 2), max_size=60))
@at_ease
def test_no_word_that_fits_is_cut(words: list[str]) -> None:
    """A text of words has the same words on its pages, and no page is left half empty for long."""
    pages = paged([" ".join(words)])
    assert [word for page in pages for word in page.shown.split()] == words
    assert len(pages) <= len(re.sub(r"\s+", " ", " ".join(words))) // (ROOM // 2) + 1
