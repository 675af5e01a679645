"""
Take secrets out of what is printed or logged.

By exact value where the secret is known, by its shape where it is not, by its name where it is a
value with a key. Pure: nothing here knows about logging or settings.
"""

import re
from collections.abc import Collection, Mapping
from typing import cast

HIDDEN = "***"

#: Ends of names whose text is a secret wherever they stand: as a key, in a repr, in a header.
_NAME = r"(?:token|password|passwd|authorization|secret|api[_-]?key)"
_SECRET_KEY = re.compile(rf"(?i)[\w-]*{_NAME}")

#: Known texts shorter than this are not replaced: "a" for a password would riddle every line.
_SHORTEST = 6

# Each begins with something rare and repeats nothing without a bound before it has begun: whoever
# writes the text must not be able to make a log line expensive.
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    # A Discord token: base64 of an id, a time and a signature, with dots in between.
    (re.compile(r"(?<![\w.-])(?:mfa\.[\w-]{20,}|[\w-]{17,30}\.[\w-]{5,8}\.[\w-]{25,})"), HIDDEN),
    # The token of an interaction or webhook, good for a quarter of an hour, in a path.
    (re.compile(r"(/(?:webhooks|interactions)/\d{1,20}/)[\w.%-]{20,}"), rf"\1{HIDDEN}"),
    # user:password@ of a URL, up to the last @ before a slash: a password may hold an @ itself.
    (re.compile(r"(?<=://)([^\s/@:\"]*):[^\s/\"]*@"), rf"\1:{HIDDEN}@"),
    # An authorization header, whatever its scheme; and a scheme without its header.
    (
        re.compile(r"(?i)(authorization['\"]?\s?[:=]\s?['\"]?(?:[a-z]{1,12}\s)?)[^\s'\"\\,}]+"),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"\b(Bearer|Basic) [\w.~+/=-]{16,}"), rf"\1 {HIDDEN}"),
    # {'password': 'text'} in the repr of a mapping, its quotes perhaps escaped by another repr.
    (
        re.compile(rf"(?i)({_NAME}\\{{0,8}}['\"]\s?:\s?b?)(\\{{0,8}}['\"]).*?(?<!\\)\2"),
        rf"\1\2{HIDDEN}\2",
    ),
    # password='text' or password=text in the repr of an object or a query. Numbers stay: a lease's
    # token is one, and it is what a log is read for.
    (
        re.compile(rf"(?i)({_NAME}=)(?!\d+\b|None\b)(b?['\"]?)[^\s'\"\\,)>&#]+"),
        rf"\1\2{HIDDEN}",
    ),
)


def redact(text: str, secrets: Collection[str] = ()) -> str:
    """Replace each of *secrets* in *text*, and whatever has the shape of one, by ***."""
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    for shape, replacement in _SHAPES:
        text = shape.sub(replacement, text)
    return text


def hide_named(value: object) -> object:
    """
    Hide what stands under a secret's name, at any depth of mappings and sequences.

    A number under such a name stays, as `token` is also the name of a lease's number. Text in
    other places and the reprs of objects are left to `redact`, over the finished line.
    """
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {key: HIDDEN if _is_secret(key, one) else hide_named(one) for key, one in items}
    if isinstance(value, tuple):
        return tuple(hide_named(one) for one in cast("tuple[object, ...]", value))
    if isinstance(value, list | set | frozenset):
        return [hide_named(one) for one in cast("Collection[object]", value)]
    return value


def is_secret_name(name: str) -> bool:
    """Whether text under this name is a secret."""
    return _SECRET_KEY.fullmatch(name) is not None


def _is_secret(key: object, value: object) -> bool:
    empty = value is None or isinstance(value, bool | int | float) or value in ("", b"")
    return isinstance(key, str) and is_secret_name(key) and not empty
