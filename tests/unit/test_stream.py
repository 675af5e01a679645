"""Chunks to pages: what fits, what each moment shows, what is not to be seen."""

import time
from itertools import pairwise

import pytest

from bot.stream import LEAST_ROOM, PageText, Stream, units

LIMIT = 2000
RESERVE = 40
ROOM = LIMIT - RESERVE

PARAGRAPH = "One two three four five six seven. Eight nine ten eleven twelve thirteen. "

#: The flag of England: a black one with tags behind it.
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def paged(text: str, limit: int = LIMIT) -> list[PageText]:
    """Return the pages of *text*, written at once, after the checks that hold for every text."""
    stream = Stream(limit, RESERVE)
    stream.write(text)
    pages = list(stream.pages)
    assert "".join(page.body for page in pages) == text
    assert all(units(page.shown) <= limit - RESERVE for page in pages)
    return pages


def streamed(text: str) -> list[list[PageText]]:
    """Return the pages as they stood after each character of *text*."""
    stream = Stream()
    stages = []
    for character in text:
        stream.write(character)
        stages.append(list(stream.pages))
    return stages


# --------------------------------------------------------------------------------------------- size


@pytest.mark.parametrize("length", [1, 1960, 2000, 2001, 3999, 4001, 25_000])
def test_b89_a_text_of_any_length_is_there_in_full(length: int) -> None:
    """The pages joined are the text, whether it has words, lines or neither."""
    for text in ("x" * length, (PARAGRAPH * length)[:length], ("line\n" * length)[:length]):
        pages = paged(text)
        assert len(pages) <= length // (ROOM // 2) + 1


def test_b90_an_overflow_in_mid_stream_makes_one_page_and_not_one_a_tick() -> None:
    """Five thousand characters, one at a time, are three pages, each closed once."""
    text = (PARAGRAPH * 70)[:5000]
    stages = streamed(text)
    assert "".join(page.body for page in stages[-1]) == text
    assert len(stages[-1]) == 3
    for earlier, later in pairwise(stages):
        assert later[: len(earlier) - 1] == earlier[:-1]
        assert len(later) - len(earlier) in {0, 1}


def test_b92_the_closing_fence_counts_towards_the_limit() -> None:
    """A fence that opens just before the limit makes no message longer than it."""
    for before in range(1940, 2001):
        text = f"{'word ' * 400}"[:before] + "\n```python\n" + "x = 1\n" * 400 + "```"
        for page in paged(text):
            assert page.shown.count("```") % 2 == 0


def test_b94_each_page_of_a_long_block_is_a_block_in_its_language() -> None:
    """A block of 300 lines is closed at each cut and opened again with its language."""
    lines = [f"value_{n} = compute({n})" for n in range(300)]
    pages = paged("```py\n" + "\n".join(lines) + "\n```")
    assert len(pages) > 3
    shown = [page.shown.split("\n") for page in pages]
    assert all(page[0] == "```py" and page[-1] == "```" for page in shown)
    assert [line for page in shown for line in page[1:-1]] == lines


@pytest.mark.parametrize("wrapping", ["{}", "```\n{}\n```", "```py\n{}"])
def test_b95_an_emoji_at_the_limit_stays_whole(wrapping: str) -> None:
    """No page holds half of an emoji, inside a fence or out of it."""
    for before in range(1930, 2001):
        for page in paged(wrapping.format("a" * before + "🦊" * 30)):
            assert "\ufffd" not in page.shown
            page.shown.encode()


def test_units_are_those_of_utf_16() -> None:
    """A character beyond the basic plane counts twice, as Discord counts it."""
    assert units("abc") == 3
    assert units("né") == 2
    assert units("🦊") == 2
    assert units("👩‍👩‍👧") == 8
    assert units("\ud83e") == 1


def test_a_page_is_filled_to_its_last_unit() -> None:
    """What fits exactly stays on one page, and one unit more makes a second."""
    assert len(paged("x" * ROOM)) == 1
    assert len(paged("x" * (ROOM + 1))) == 2
    assert len(paged("🦊" * (ROOM // 2))) == 1
    assert len(paged("```\n" + "x" * (ROOM - 8) + "\n```")) == 1


def test_a_room_too_small_for_a_fence_is_refused() -> None:
    """A page must have room for a fence around some text."""
    with pytest.raises(ValueError, match=f"a page needs {LEAST_ROOM} units, not 100 less 40"):
        Stream(100, 40)
    assert paged("x" * 1000, LEAST_ROOM + RESERVE)


def test_nothing_written_is_no_page() -> None:
    """Without text there are no pages, and the stream is blank."""
    stream = Stream()
    stream.write("")
    assert list(stream.pages) == []
    assert stream.text == ""
    assert stream.blank()


# ---------------------------------------------------------------------------------------- streaming


def test_the_open_page_shows_all_that_was_written_and_grows_by_appending() -> None:
    """Nothing is held back, and no character that was shown is taken away before the cut."""
    for earlier, later in pairwise(streamed((PARAGRAPH * 26)[:1900])):
        assert len(later) == 1
        assert later[0].shown == later[0].body.rstrip()
        assert later[0].shown.startswith(earlier[0].shown)


def test_the_chunks_do_not_decide_where_pages_end() -> None:
    """A replay that gets the same text in other pieces makes the same pages."""
    text = (f"{PARAGRAPH}\n\n- item <@123456789>\n```py\nprint(1)\n```\n") * 60
    at_once = paged(text)
    for size in (1, 7, 100, 3000):
        stream = Stream()
        for start in range(0, len(text), size):
            stream.write(text[start : start + size])
        assert list(stream.pages) == at_once
        assert stream.text == text


def test_blanks_that_a_chunk_brings_to_light_are_counted_at_once() -> None:
    """Free while they were the end, blanks take their place as soon as a character follows."""
    text = "a" * 1000 + "\u200b" * 950 + "b" * 50
    assert streamed(text)[-1] == paged(text)


@pytest.mark.parametrize("unit", [PARAGRAPH + "\n", "x", "🦊", "```py\nprint(1)\n```\n"])
def test_the_cost_is_linear_in_the_text(unit: str) -> None:
    """Ten times the text, one character at a time and read each time, costs about ten times."""
    short, long = (_seconds((unit * length)[:length]) for length in (5_000, 50_000))
    # A quadratic one would cost a hundred times as much.
    assert long < 30 * short


def _seconds(text: str) -> float:
    """Measure the processor time of streaming *text*."""
    stream = Stream()
    start = time.process_time()
    for character in text:
        stream.write(character)
        assert stream.pages
    return time.process_time() - start


# ------------------------------------------------------------------------------------------- blanks


def test_blanks_at_a_cut_are_kept_in_the_body_and_take_no_place() -> None:
    """A page may be followed by any number of line breaks: they belong to it and are not shown."""
    first, second = "x" * ROOM, "y" * ROOM
    pages = paged(first + "\n" * 3000 + second)
    assert [page.body for page in pages] == [first + "\n" * 3000, second]
    assert [page.shown for page in pages] == [first, second]


@pytest.mark.parametrize(
    "blank", [" ", "\n", "\u200b", "\u2060", "\ufeff", "\ufe0f", "\u3164", "\0"]
)
def test_no_page_is_blank_unless_the_text_is(blank: str) -> None:
    """Blanks before, amid or after the text make no message of their own."""
    many = blank * 5000
    full = "x" * ROOM
    for text in (f"{many}x", f"x{many}", f"x{many}y", f"{full}{many}", f"{many}```\n{many}x"):
        assert all(page.shown.strip(f"{blank}\n") for page in paged(text))


def test_what_alters_the_look_of_nothing_makes_no_page() -> None:
    """A variation selector that overflows the page behind a lone surrogate stays with it."""
    assert [page.body for page in paged("x" * (ROOM - 1) + "\ud83e\ufe0f")] == [
        "x" * (ROOM - 1),
        "\ud83e\ufe0f",
    ]


def test_a_run_of_blanks_costs_next_to_nothing() -> None:
    """A hundred thousand blanks at once cost less than as many letters."""
    costs = []
    for text in ("\u200b" * 100_000, "x" * 100_000):
        start = time.process_time()
        Stream().write(text)
        costs.append(time.process_time() - start)
    assert costs[0] < costs[1]


@pytest.mark.parametrize("text", [" ", " \n\t ", "\u200b\u200d\ufeff", "\u2800", "\ufe0f", "\0"])
def test_a_text_without_anything_to_see_is_blank(text: str) -> None:
    """Spaces, zero-width characters and the like are nothing to send."""
    stream = Stream()
    stream.write(text)
    assert stream.blank()
    assert [page.shown for page in stream.pages] == [""]
    stream.write("x")
    assert not stream.blank()


@pytest.mark.parametrize(
    "emoji", ["❤️", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"]
)
def test_an_emoji_at_the_end_keeps_its_look(emoji: str) -> None:
    """Invisible characters that belong to an emoji are not trimmed with the blanks."""
    assert paged(f"I {emoji} \n")[0].shown == f"I {emoji}"


# --------------------------------------------------------------------------------------- surrogates


def test_a_surrogate_that_stands_alone_is_replaced_for_showing_only() -> None:
    """The body keeps what was written; what is shown can be encoded."""
    page = paged("a\ud83eb")[0]
    assert page == PageText(body="a\ud83eb", shown="a\ufffdb")


def test_the_halves_of_an_emoji_in_two_chunks_are_joined() -> None:
    """A stream that was cut between two surrogates shows the character they make."""
    stream = Stream()
    stream.write("a \ud83e")
    stream.write("\udd8a")
    assert [page.shown for page in stream.pages] == ["a 🦊"]
