"""Text and pieces to messages: in the order in which they were yielded, and all of them."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.composition import CARRIERS, STATUS, Composition
from bot.errors import PieceInvalid
from bot.replies import Embed, File
from bot.speaking import STATUS_SIGN, Button, Outgoing
from bot.stream import units

CARD = Embed(title="card")
NOTE = File("note.txt", b"note")
YES = (Button("Yes", "1"),)


def composed(*chunks: str | Embed | File | tuple[Button, ...], limit: int = 100) -> Composition:
    """Compose what was yielded so."""
    made = Composition(most=2000, reserve=60, file_limit=limit)
    for chunk in chunks:
        if isinstance(chunk, str):
            made.write(chunk)
        else:
            made.add(chunk)
    return made


def outline(pages: list[Outgoing]) -> list[str]:
    """Say of each message what it says, and what it carries by initials."""
    return [
        page.text
        + "F" * len(page.pieces.files or ())
        + "E" * len(page.pieces.embeds or ())
        + "B" * len(page.pieces.buttons)
        for page in pages
    ]


@pytest.mark.parametrize(
    ("chunks", "messages"),
    [
        (["a", CARD], ["aE"]),
        ([CARD], ["E"]),
        ([CARD, "a"], ["E", "a"]),
        (["a", CARD, "b", NOTE, "c"], ["aE", "bF", "c"]),
        (["a", NOTE, NOTE, CARD, CARD, YES, YES], ["aFFEEBB"]),
        (["a", CARD, NOTE], ["aE", "F"]),
        (["a", YES, CARD, YES], ["aB", "EB"]),
        (["a", YES, "\n", CARD], ["aB", "E"]),
        (["a", CARD, "\n\n", "  b"], ["aE", "b"]),
        ([" ", "\n", CARD], ["E"]),
        (["a", *[CARD] * 11], ["a" + "E" * 10, "E"]),
        (["a", *[NOTE] * 11], ["a" + "F" * 10, "F"]),
        (["a", *[YES] * 21], ["a" + "B" * 20, "B"]),
        ([Embed(description="d" * 4000)] * 2, ["E", "E"]),
        ([File("a", b"x" * 60)] * 2, ["F", "F"]),
        ([" ", ""], []),
    ],
)
def test_pieces_are_shown_in_the_order_in_which_they_were_yielded(
    chunks: list[str | Embed | File | tuple[Button, ...]], messages: list[str]
) -> None:
    """
    A message shows text, files, embeds, buttons; what comes in that order shares one.

    So does what Discord allows in one; all else begins the next.
    """
    made = composed(*chunks)
    assert outline(made.finished(6)) == messages
    assert outline(made.growing(6, None)) == messages
    assert made.blank == (not messages)


def test_pages_joined_are_the_text_whatever_stands_between_them() -> None:
    """Pieces are no part of it, and cost none of it."""
    made = composed("a ", CARD, "\n b\n", NOTE, YES, " ", CARD, "c" * 5000, CARD, "d")
    assert made.text == "a \n b\n c" + "c" * 4999 + "d"
    assert "".join("".join(page.text for page in made.finished(9)).split()) == (
        "".join(made.text.split())
    )


def test_a_fence_that_is_cut_by_a_piece_goes_on_below_it() -> None:
    """Both messages show code, as if the page had been full."""
    made = composed("```py\na\n", CARD, "b\n```")
    first, second = made.finished(6)
    assert first.text == "```py\na\n```"
    assert second.text == "```py\nb\n```"


def test_beyond_the_most_messages_text_goes_as_a_file_and_pieces_follow() -> None:
    """Nothing that was yielded is lost."""
    made = composed("a", CARD, "b", NOTE, "c", YES, "d")
    *shown, rest, note, yes = made.finished(1)
    assert outline(shown) == ["aE"]
    assert rest.pieces.files is not None
    assert rest.pieces.files[0].data == b"bcd"
    assert outline([note, yes]) == ["F", "B"]
    assert outline(made.growing(1, None)) == ["aE"]


def test_pieces_are_bounded() -> None:
    """A responder that never ends does not fill a channel with cards."""
    most: list[Embed | tuple[Button, ...]] = [
        YES,
        CARD,
    ] * CARRIERS  # of each two neighbours, the second begins a message
    assert len(composed(*most[:-1]).finished(6)) == CARRIERS
    with pytest.raises(PieceInvalid, match=f"more than {CARRIERS} messages"):
        composed(*most)


def test_a_file_that_is_too_large_for_the_place_is_refused() -> None:
    """The line says how large it is and what fits."""
    with pytest.raises(PieceInvalid, match=r"film\.mp4 has 11\.0 MiB; 10\.0 MiB fit here"):
        composed(File("film.mp4", bytes(11 << 20)), limit=10 << 20)


# ------------------------------------------------------------------------------------------- status


def test_a_status_is_below_what_grows_and_no_part_of_it() -> None:
    """It never lands, and is not the text."""
    made = composed("a")
    made.set_status("reading\n3 files…")
    (page,) = made.growing(6, None)
    assert page.content == f"a\n{STATUS_SIGN}reading 3 files…"
    assert page.text == made.text == "a"
    assert [page.content for page in made.finished(6)] == ["a"]


def test_a_status_before_all_is_shown_alone_and_is_nothing() -> None:
    """A turn that has only told what it does has said nothing yet."""
    made = composed()
    made.set_status("reading")
    assert [page.content for page in made.growing(6, None)] == [f"{STATUS_SIGN}reading"]
    assert made.blank
    assert made.finished(6) == []


@pytest.mark.parametrize("chunk", ["b", CARD, NOTE, YES])
def test_a_status_makes_room_for_whatever_follows(
    chunk: str | Embed | File | tuple[Button, ...],
) -> None:
    """Also for the next status; but blanks, which show nothing, take nothing away."""
    made = composed("a")
    made.set_status("one")
    made.set_status("two")
    made.write(" \n")
    assert made.growing(6, None)[-1].status == "two"
    if isinstance(chunk, str):
        made.write(chunk)
    else:
        made.add(chunk)
    assert made.growing(6, None)[-1].status == ""


@pytest.mark.parametrize("text", ["", "a" * 1940, "🙂" * 970])
@pytest.mark.parametrize("status", ["s" * 5000, "🙂" * 300, "short"])
def test_a_status_is_cut_to_what_fits_a_message(text: str, status: str) -> None:
    """However long both are, Discord takes the message."""
    made = composed(text)
    made.set_status(status)
    (page,) = made.growing(6, None)
    assert units(page.content) <= 2000
    assert units(page.status) <= STATUS
    assert page.status == status or page.status.endswith("…")


# -------------------------------------------------------------------------------------- properties

PIECES = st.one_of(
    st.text("ab \n", max_size=6),
    st.integers(0, 3000).map("c".__mul__),
    st.integers(0, 9).map(lambda number: Embed(title=f"card {number}")),
    st.integers(0, 9).map(lambda number: File(f"file {number}", bytes(30))),
    st.integers(0, 9).map(lambda number: (Button(f"button {number}", "id"),)),
)


def parts(chunks: Iterable[str | Embed | File | Button]) -> list[str]:
    """What a reader sees of *chunks* from top to bottom: visible characters, and names."""
    seen: list[str] = []
    for chunk in chunks:
        match chunk:
            case str():
                seen += "".join(chunk.split())
            case Embed():
                seen.append(chunk.title)
            case File():
                seen.append(chunk.name)
            case Button():
                seen.append(chunk.label)
    return seen


@given(st.lists(PIECES, max_size=18))
def test_what_is_read_from_top_to_bottom_is_what_was_yielded(
    chunks: list[str | Embed | File | tuple[Button, ...]],
) -> None:
    """Whatever comes after whatever: all of it, in order, in messages that Discord takes."""
    made = composed(*chunks)
    pages = made.finished(99)
    shown: list[str | Embed | File | Button] = []
    for page in pages:
        pieces = page.pieces
        shown += [page.text, *(pieces.files or ()), *(pieces.embeds or ()), *pieces.buttons]
        assert page.text.strip() or pieces
        assert units(page.text) <= 1940
        assert sum(len(file.data) for file in pieces.files or ()) <= 100
    flat = [one for chunk in chunks for one in (chunk if isinstance(chunk, tuple) else (chunk,))]
    assert parts(shown) == parts(flat)
    assert made.text == "".join(chunk for chunk in chunks if isinstance(chunk, str))
    assert [page.content for page in made.growing(99, None)] == [page.content for page in pages]


@pytest.mark.parametrize("reserve", range(8))
@pytest.mark.parametrize("status", ["", "reading"])
def test_a_status_gives_way_where_short_marks_leave_no_room_for_it(
    reserve: int, status: str
) -> None:
    """The operator may mark by a single sign; a full page then has no place for small print."""
    made = Composition(most=2000, reserve=reserve, file_limit=100)
    made.write("a" * (2000 - reserve))
    made.set_status(status)
    [page] = made.growing(6, None)
    assert units(page.content) <= 2000
