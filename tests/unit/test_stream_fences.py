"""Code fences in pages: what opens one, what closes it, and what a cut does to it."""

import pytest

from bot.stream import Stream


def shown(text: str, limit: int = 2000) -> list[str]:
    """Return what the pages of *text* show."""
    stream = Stream(limit)
    stream.write(text)
    return [page.shown for page in stream.pages]


def code(lines: int) -> str:
    """Return so many lines of a program; a page holds about ninety."""
    return "".join(f"line = {n:05} + some_more\n" for n in range(lines))


# ----------------------------------------------------------------------------------- at this moment


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("```py\nx = 1", "```py\nx = 1\n```"),
        ("```py\nx = 1\n", "```py\nx = 1\n```"),
        ("```py\nx = 1\n`", "```py\nx = 1\n```"),
        ("```py\nx = 1\n``", "```py\nx = 1\n```"),
        ("```py\nx = 1\n```", "```py\nx = 1\n```"),
        ("```py\nx = 1\n`` ", "```py\nx = 1\n``\n```"),
        ("deep\n            ```py\nx", "deep\n            ```py\nx\n```"),
        ("```py", "```py\n```"),
        ("```", "```\n```"),
        ("````md\n```py\nx\n```\n", "````md\n```py\nx\n```\n````"),
        ("````md\nx\n``", "````md\nx\n````"),
        ("~~~\nx\n```", "~~~\nx\n```\n~~~"),
        ("~~~\nx\n~", "~~~\nx\n~~~"),
        ("- item\n  ```py\n  x", "- item\n  ```py\n  x\n  ```"),
        ("1. ```py\n   x", "1. ```py\n   x\n   ```"),
        ("> ```py\n> x", "> ```py\n> x\n> ```"),
        ("> ```py\n> x\n>", "> ```py\n> x\n> ```"),
        ("> ```py\n> x\n> `", "> ```py\n> x\n> ```"),
        ("Like this: ```py\nx", "Like this: ```py\nx\n```"),
    ],
)
def test_an_open_fence_is_closed_for_showing(text: str, closed: str) -> None:
    """Whenever the stream is read its fence is closed, with as little as it takes."""
    assert shown(text) == [closed]


@pytest.mark.parametrize(
    "text",
    [
        "```inline``` in a line",
        "see ```inline```",
        "``` and `code` in one line",
        "Wrap it in ``` and go on",
        "Write `` ``` `` or ` ``` ` for a fence",
        "```py\nx\n```\nprose",
        "```py\nx```\nprose",
        "```py\nx\n``` prose goes on",
        "```py\nx\n   ```",
        "~~struck~~ and ~~~struck~~~",
        "~~~struck~~~",
        "`code` ``co`de``",
        "`" * 40,
    ],
)
def test_what_is_no_open_fence_is_left_alone(text: str) -> None:
    """Inline code, closed fences and mere decoration get no closing fence."""
    assert shown(text) == [text]


def test_backticks_within_a_line_of_code_do_not_close_its_fence() -> None:
    """A program may speak of fences."""
    assert shown('```py\ns = "```" + x\ny') == ['```py\ns = "```" + x\ny\n```']


# ----------------------------------------------------------------------------------------- at a cut


@pytest.mark.parametrize(
    ("opener", "prefix", "closer"),
    [
        ("```python", "```python", "```"),
        ("``` python ", "```python", "```"),
        ("```c++", "```c++", "```"),
        ("```", "```", "```"),
        ("```py title=x", "```py", "```"),
        ("```ts:src/file.ts", "```ts", "```"),
        ("```py title='a long one'", "```", "```"),
        ("```an-info-string-of-more-than-twenty", "```", "```"),
        ("````md", "````md", "````"),
        ("~~~sh", "~~~sh", "~~~"),
        ("   ```py", "```py", "   ```"),
        ("Like this: ```py", "```py", "```"),
    ],
)
def test_a_cut_fence_is_closed_and_opened_again(opener: str, prefix: str, closer: str) -> None:
    """The page ends with the fence's own run, and the next begins with it and the language."""
    first, second, *_ = shown(f"{opener}\n{code(150)}{closer}\nprose")
    assert first.endswith(f"\n{closer}")
    assert second.startswith(f"{prefix}\nline = ")


def test_a_cut_fence_in_a_quote_stays_in_the_quote() -> None:
    """The marks of the quote come before the closing run and the opening one."""
    lines = "".join(f"> {line}\n" for line in code(150).splitlines())
    first, second, *_ = shown(f"> ```py\n{lines}> ```")
    assert first.endswith("\n> ```")
    assert second.startswith("> ```py\n> line = ")


def test_a_quoted_line_of_code_that_is_cut_goes_on_in_the_quote() -> None:
    """Cut in mid-line, the rest of the line gets the quote's mark again."""
    assert shown(f"> ```py\n> {'x' * 2500}\n> ```")[1].startswith("> ```py\n> xxx")


def test_code_keeps_its_indentation_at_the_start_of_a_page() -> None:
    """A page of code begins with the blanks of its first line."""
    for page in shown("```py\n" + "    indented = True\n" * 300 + "```"):
        assert page.startswith("```py\n    indented")


def test_code_cut_at_a_word_keeps_the_indentation_of_its_line() -> None:
    """If the gap between words is a line break, the next page begins with the whole line."""
    assert shown(f"```py\nshort = 1\n    {'x' * 1940}")[1].startswith("```py\n    x")


def test_a_cut_leaves_no_block_without_content() -> None:
    """Wherever the limit falls, no page ends with a fence just opened or begins with one closed."""
    for before in range(1900, 1965):
        prose = ("word " * 400)[:before].strip()
        for text in (f"{prose}\n```py\nx = 1\n```\nend", f"```py\n{prose}\n```\nthen some prose"):
            assert not [page for page in shown(text) if "```py\n```" in page]
    assert not [page for page in shown(f"```py\nx\n```{'y' * 3000}") if "```py\n```" in page]


def test_a_block_begins_on_a_new_page_rather_than_being_cut() -> None:
    """The gap before a fence is as good as one between paragraphs."""
    prose, block = ("word " * 300).strip(), f"```py\n{code(40)}```"
    assert shown(f"{prose}\n{block}") == [prose, block]


def test_a_block_is_cut_at_a_blank_line_if_there_is_one() -> None:
    """Within code a blank line is the better place."""
    function = "def name():\n    first()\n    second()\n\n"
    for page in shown("```py\n" + function * 100 + "```"):
        assert page.startswith("```py\ndef name():")


def test_a_line_of_code_without_end_is_cut_within_its_fence() -> None:
    """A minified file is in blocks too."""
    pages = shown(f"```js\n{'x' * 5000}\n```")
    assert all(page.startswith("```js\nx") and page.endswith("x\n```") for page in pages)
    assert sum(page.count("x") for page in pages) == 5000


@pytest.mark.parametrize("opening", ["```", "        ````````py", "> > > > ```", "see ```"])
def test_an_opening_near_the_limit_cuts_at_one_place(opening: str) -> None:
    """The jump in size that a fence makes is noticed at once, however large the chunks."""
    for before in range(1920, 1960):
        text = f"{('word ' * 400)[:before]}\n{opening}\nx"
        stream = Stream()
        for character in text:
            stream.write(character)
        assert [page.shown for page in stream.pages] == shown(text)


def test_a_nested_fence_of_the_same_length_ends_the_outer_one() -> None:
    """As Discord reads it: what follows the inner block is no code and gets no fence."""
    text = "```md\n# Title\n```sh\nmake\n```\nmore\n```\nThe end."
    assert shown(text) == [text]
