"""Where a page ends, and what a cut never tears."""

import pytest

from bot.stream import units
from tests.unit.test_stream import ENGLAND, PARAGRAPH, ROOM, paged

# ------------------------------------------------------------------------------------- where to cut


def test_a_cut_is_between_paragraphs_if_there_is_one_in_the_second_half() -> None:
    """A list that no longer fits goes to the next page as a whole, with all its items."""
    first, second = (PARAGRAPH * 20).strip(), "\n".join([f"- {PARAGRAPH.strip()}"] * 15)
    assert [page.shown for page in paged(f"{first}\n\n{second}")] == [first, second]


def test_a_cut_in_the_first_half_would_waste_the_page() -> None:
    """A paragraph too long for the rest of the page begins on it all the same."""
    first, *_ = paged(f"short\n\n{PARAGRAPH * 40}")
    assert units(first.shown) > ROOM - len(PARAGRAPH)


def test_a_cut_is_else_between_lines() -> None:
    """Without a blank line in the second half a line is the unit."""
    lines = [f"line {n} without an end" for n in range(200)]
    pages = paged("\n".join(lines))
    assert len(pages) == 3
    assert [line for page in pages for line in page.shown.split("\n")] == lines


def test_a_cut_is_else_between_sentences() -> None:
    """Within a long paragraph a sentence is the unit; what only looks like its end is not."""
    sentence = "See fig. 1. of the book, e.g. this one, and read on until the end."
    for page in paged(" ".join([sentence] * 80)):
        assert page.shown.startswith("See")
        assert page.shown.endswith("the end.")


def test_a_cut_is_else_between_words() -> None:
    """Within a sentence a word is the unit."""
    words = [f"word{n}" for n in range(1000)]
    assert [word for page in paged(" ".join(words)) for word in page.shown.split()] == words


def test_a_cut_is_inside_a_word_only_if_the_word_fills_the_page() -> None:
    """The one space of a page is taken, and a word without end fills its pages."""
    pages = paged("see " + "x" * 5000)
    assert [len(page.shown) for page in pages] == [3, ROOM, ROOM, 5000 - 2 * ROOM]


def test_text_without_spaces_is_cut_after_its_full_stop_and_not_before_a_mark() -> None:
    """Japanese needs no spaces: a sentence ends with its mark, and no page begins with one."""
    for page in paged("彼は「はい」と言いました。それから、家に帰りました。" * 200):
        assert page.shown.startswith("彼")
    for page in paged("長い文章は、途中で「切らなければ」ならない、" * 200)[1:]:
        assert page.shown[0] not in "、。」っゃゅょー"


def test_a_heading_stays_with_the_text_below_it() -> None:
    """A cut is made above a heading, never right below it."""
    text = f"{PARAGRAPH * 24}\n\n## Heading\n\n{PARAGRAPH * 20}"
    assert [page.shown.startswith("## Heading") for page in paged(text)] == [False, True]


def test_the_items_of_a_list_stay_whole() -> None:
    """A cut in a list is made between its items, with the lines that belong to each."""
    item = "- an item of the list\n  that goes on in a second line\n  and in a third\n"
    for page in paged(item * 100):
        assert page.shown.startswith("- an item")
        assert page.shown.endswith("a third")


def test_the_rows_of_a_table_stay_whole() -> None:
    """No row is cut, be it as long as half a page or more."""
    for cell in ("cell. ", "cell. " * 60, "cell. " * 100):
        rows = [f"| {n} | {cell} | {cell} |" for n in range(20)]
        shown = [line for page in paged("\n".join(rows)) for line in page.shown.split("\n")]
        assert shown == rows


# --------------------------------------------------------------------------------------- never torn

WHOLES = [
    "<@123456789012345678>",
    "<@!123456789012345678>",
    "<@&123456789012345678>",
    "<#123456789012345678>",
    "</ask for help:123456789012345678>",
    "<t:1700000000:R>",
    "<id:customize>",
    "<:smile:123456789012345678>",
    "<a:dance:123456789012345678>",
    "https://example.org/a/path?with=a&long=query#fragment",
    "<https://example.org/without/preview>",
    "[a text of some words](https://example.org/wiki/Page_(disambiguation))",
    '[text](https://example.org "with a title")',
    "`code in a line`",
    "**bold words**",
    "||hidden words||",
]


@pytest.mark.parametrize("whole", WHOLES)
@pytest.mark.parametrize("joint", [" ", ""], ids=["spaced", "joined"])
def test_what_belongs_together_is_never_torn(whole: str, joint: str) -> None:
    """At whatever offset it meets the limit, it is on one page, and in a fence too."""
    for offset in range(len(whole) + 1):
        before = "x" * (ROOM - offset - len(joint))
        for text in (f"{before}{joint}{whole} and on", f"```\n{before}{joint}{whole} and on\n```"):
            assert sum(whole in page.body for page in paged(text)) == 1


def test_a_link_that_fits_a_page_has_one_to_itself() -> None:
    """A link just short of a page is moved rather than cut."""
    link = "https://example.org/" + "x" * (ROOM - 20)
    assert [page.shown for page in paged(f"see {link} there")] == ["see", link, "there"]


def test_the_mentions_in_a_row_longer_than_a_page_stay_whole() -> None:
    """Where the row must be cut, what is in it still need not be."""
    for page in paged(f"|{'<@123456789>' * 500}|"):
        assert page.body.strip("|").replace("<@123456789>", "") == ""


def test_a_link_longer_than_a_page_is_cut_and_complete() -> None:
    """What cannot be kept whole is at least all there."""
    link = "https://example.org/" + "x" * 5000
    assert "".join(page.shown for page in paged(link)) == link


CLUSTERS = {
    "a family": "👩‍👩‍👧‍👦",
    "a flag": "🇩🇪",
    "a flag of tags": ENGLAND,
    "a skin tone": "👍🏽",
    "a keycap": "1\ufe0f\u20e3",
    "a coloured heart": "❤️‍🔥",
    "a letter with marks": "e\u0301\u0323",
    "a syllable of jamo": "\u1112\u1161\u11ab",
    "a conjunct": "क्षि",
    "a pair of surrogates": "\ud83e\udd8a",
    "a line break": "\r\n",
}


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)
def test_no_character_that_a_reader_sees_is_torn(cluster: str) -> None:
    """A page ends between two clusters, wherever the limit falls."""
    for before in range(ROOM - units(cluster) - 1, ROOM + 1):
        first = paged("a" * before + cluster * 40)[0]
        assert (len(first.body) - before) % len(cluster) == 0


def test_a_cluster_longer_than_a_page_is_cut_between_code_points() -> None:
    """A letter with thousands of marks is no reason to fail."""
    pages = paged("Z" + "\u0301" * 5000 + "🦊")
    assert [len(page.body) for page in pages] == [ROOM, ROOM, 5002 - 2 * ROOM]
