"""
What a responder may yield beside text: a status line, an embed, a file, buttons.

Plain values. Each checks itself against Discord's limits when it is made, so that what is wrong is
told where it was written, in one line that says what would be right.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from bot.errors import PieceInvalid
from bot.stream import units

#: Discord's limits, in UTF-16 units where they are about text.
TITLE, DESCRIPTION, FOOTER, AUTHOR, FIELD_NAME, FIELD_VALUE = 256, 4096, 2048, 256, 256, 1024
FIELDS = 25
#: The texts of all embeds of one message together.
EMBED_TEXT = 6000
LABEL = 80
FILE_NAME, FILE_DESCRIPTION = 200, 1024
COLOURS = 1 << 24

#: Bytes of a button's payload as JSON. It is kept for as long as the button may be pressed.
PAYLOAD = 16_384

#: Buttons of one message. Relation: of Discord's 25 in five rows, the last row is left to ours.
BUTTONS = 20

Style: TypeAlias = Literal["primary", "secondary", "success", "danger"]


@dataclass(frozen=True, slots=True)
class Status:
    """
    A line of small print under the reply while it grows, such as "reading 3 files…".

    It counts as progress, makes room for the next one, for text and for everything else, and is
    never part of the reply. An empty one takes the line from below a text; what does not fit is
    cut.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """A heading and a text in an embed; several *inline* ones stand side by side."""

    name: str
    value: str
    inline: bool = False

    def __post_init__(self) -> None:
        """Refuse what Discord would."""
        _fits("an Embed's field name", self.name, FIELD_NAME, least=1)
        _fits("an Embed's field value", self.value, FIELD_VALUE, least=1)


@dataclass(frozen=True, slots=True)
class Embed:
    """
    A framed card under the text written before it; text that follows begins a new message.

    *url* makes the title a link; *image* and *thumbnail* are addresses too. *colour* is 0xRRGGBB.
    """

    title: str = ""
    description: str = ""
    url: str = ""
    colour: int | None = None
    fields: Sequence[Field] = ()
    image: str = ""
    thumbnail: str = ""
    author: str = ""
    footer: str = ""

    def __post_init__(self) -> None:
        """Refuse what Discord would."""
        object.__setattr__(self, "fields", tuple(self.fields))
        for name, most in _TEXTS.items():
            _fits(f"an Embed's {name}", getattr(self, name), most)
        for name in ("url", "image", "thumbnail"):
            if link := getattr(self, name):
                _web(f"an Embed's {name}", link)
        if len(self.fields) > FIELDS:
            raise PieceInvalid(f"an Embed has {len(self.fields)} fields; {FIELDS} are allowed")
        if self.colour is not None and not 0 <= self.colour < COLOURS:
            raise PieceInvalid(f"an Embed's colour is {self.colour}; 0x000000 to 0xFFFFFF are")
        texts = "".join(getattr(self, name) for name in _TEXTS)
        if not (texts.strip() or self.fields or self.image or self.thumbnail):
            raise PieceInvalid("an Embed is empty; give it a title, a description or a field")
        if self.size > EMBED_TEXT:
            raise PieceInvalid(f"an Embed has {self.size} characters in all; {EMBED_TEXT} fit")

    @property
    def size(self) -> int:
        """Units of its text, as Discord adds them up over a message."""
        fields = sum(units(field.name) + units(field.value) for field in self.fields)
        return fields + sum(units(getattr(self, name)) for name in _TEXTS)


_TEXTS = {"title": TITLE, "description": DESCRIPTION, "author": AUTHOR, "footer": FOOTER}


@dataclass(frozen=True, slots=True)
class File:
    """A file under the text written before it. With *spoiler* it is blurred until clicked."""

    name: str
    data: bytes
    description: str = ""
    spoiler: bool = False

    def __post_init__(self) -> None:
        """Refuse what Discord would; whether its size fits depends on the place."""
        _fits("a File's name", self.name, FILE_NAME, least=1)
        _fits("a File's description", self.description, FILE_DESCRIPTION)
        if any(sign in self.name for sign in "/\\\0\r\n"):
            raise PieceInvalid(f"a File's name is {self.name!r}; a name without a folder is right")
        _is("a File's data", self.data, bytes)


@dataclass(frozen=True, slots=True)
class Button:
    """
    A button whose press is a new turn of the responder that made it, with *payload* as JSON.

    One with a *url* opens that page instead, and nobody hears of it.
    """

    label: str
    payload: Any = None
    style: Style = "secondary"
    url: str = ""

    def __post_init__(self) -> None:
        """Refuse what Discord would, and a payload that cannot be kept."""
        _fits("a Button's label", self.label, LABEL, least=1)
        if self.style not in get_args(Style):
            raise PieceInvalid(f"a Button's style is {self.style!r}; {get_args(Style)} are right")
        if self.url:
            _web("a Button's url", self.url)
            if self.payload is not None:
                raise PieceInvalid("a Button has a url and a payload; one of them is right")
        try:
            size = len(json.dumps(self.payload, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise PieceInvalid(f"a Button's payload is no JSON: {error}") from None
        if size > PAYLOAD:
            raise PieceInvalid(f"a Button's payload has {size} bytes as JSON; {PAYLOAD} are kept")


@dataclass(frozen=True, slots=True, init=False)
class Buttons:
    """Buttons under the text written before them; anybody may press, or its author alone."""

    buttons: tuple[Button, ...]
    only_author: bool

    def __init__(self, *buttons: Button, only_author: bool = False) -> None:
        """With *only_author*, only who asked for this reply may press."""
        if not 1 <= len(buttons) <= BUTTONS:
            raise PieceInvalid(f"Buttons has {len(buttons)} buttons; 1 to {BUTTONS} are right")
        for button in buttons:
            _is("one of Buttons", button, Button)
        object.__setattr__(self, "buttons", buttons)
        object.__setattr__(self, "only_author", only_author)


#: What a responder yields.
Chunk: TypeAlias = str | Status | Embed | File | Buttons


def _fits(what: str, text: str, most: int, *, least: int = 0) -> None:
    _is(what, text, str)
    if not least <= units(text.strip()) or units(text) > most:
        raise PieceInvalid(f"{what} has {units(text)} characters; {least} to {most} are right")


def _is(what: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise PieceInvalid(f"{what} is {type(value).__name__}; {kind.__name__} is right")


def _web(what: str, link: str) -> None:
    _fits(what, link, 2048)
    try:
        parts = urlsplit(link)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise PieceInvalid(f"{what} is {link!r}; an address beginning with https:// is right")
