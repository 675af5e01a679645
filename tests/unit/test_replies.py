"""What a responder may yield beside text checks itself against Discord's limits."""

from collections.abc import Callable

import pytest

from bot import Button, Buttons, Embed, Field, File
from bot.errors import PieceInvalid

FULL = Field("n" * 256, "v" * 1024)

REFUSED: list[tuple[Callable[[], object], str]] = [
    (Embed, "an Embed is empty; give it a title, a description or a field"),
    (lambda: Embed(title=" "), "an Embed is empty; give it a title, a description or a"),
    (
        lambda: Embed(title="t" * 257),
        "an Embed's title has 257 characters; 0 to 256 are right",
    ),
    (
        lambda: Embed(description="🙂" * 2049),
        "an Embed's description has 4098 characters; 0 to 4096 are right",
    ),
    (
        lambda: Embed(title="t", fields=[Field("n", "v")] * 26),
        "an Embed has 26 fields; 25 are allowed",
    ),
    (
        lambda: Embed(fields=[FULL] * 5),
        "an Embed has 6400 characters in all; 6000 fit",
    ),
    (lambda: Field("", "v"), "an Embed's field name has 0 characters; 1 to 256 are right"),
    (lambda: Embed(title="t", colour=1 << 24), "an Embed's colour is 16777216; 0x000000 to"),
    (
        lambda: Embed(title="t", url="javascript:alert(1)"),
        "an Embed's url is 'javascript:alert(1)'; an address beginning with https:// is right",
    ),
    (lambda: Embed(image="http://["), "an Embed's image is 'http://['; an address beginning"),
    (lambda: Embed(title=3), "an Embed's title is int; str is right"),  # type: ignore[arg-type]
    (
        lambda: File("a/b", b""),
        "a File's name is 'a/b'; a name without a folder is right",
    ),
    (lambda: File("a", "text"), "a File's data is str; bytes is right"),  # type: ignore[arg-type]
    (lambda: Button(""), "a Button's label has 0 characters; 1 to 80 are right"),
    (lambda: Button("a", payload={1, 2}), "a Button's payload is no JSON: Object of type set"),
    (lambda: Button("a", payload=float("nan")), "a Button's payload is no JSON: Out of range"),
    (
        lambda: Button("a", payload="x" * 20_000),
        "a Button's payload has 20002 bytes as JSON; 16384 are kept",
    ),
    (
        lambda: Button("a", payload=1, url="https://example.org"),
        "a Button has a url and a payload; one of them is right",
    ),
    (lambda: Button("a", style="loud"), "a Button's style is 'loud'; "),  # type: ignore[arg-type]
    (Buttons, "Buttons has 0 buttons; 1 to 20 are right"),
    (lambda: Buttons(*[Button("a")] * 21), "Buttons has 21 buttons; 1 to 20 are right"),
    (lambda: Buttons("a"), "one of Buttons is str; Button is right"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "line"), REFUSED)
def test_what_discord_would_refuse_is_refused_where_it_is_made(
    make: Callable[[], object], line: str
) -> None:
    """One line says what is wrong and what would be right, in the author's own traceback."""
    with pytest.raises(PieceInvalid) as caught:
        make()
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_what_is_just_within_the_limits_is_taken() -> None:
    """The limits are Discord's, to the last character."""
    embed = Embed(title="t" * 256, description="d" * 4096, footer="f" * 1648)
    assert embed.size == 6000
    assert len(Embed(fields=[Field("n", "v")] * 25).fields) == 25
    assert len(Buttons(*[Button("b" * 80)] * 20).buttons) == 20
