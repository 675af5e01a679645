"""What may name a thing in a store, and how large a thing may be."""

import re

from state.errors import Unacceptable

#: Braces would break Redis Cluster's hash tags, a newline or NUL some listing; nothing needs them.
_ID = re.compile(r"[A-Za-z0-9_./@:-]{1,128}\Z")

#: Bytes in one payload. A Discord message is at most a few KiB; the rest is room for an author's
#: state. Relation: far below Redis' 512 MB and SQLite's 1 GB limits, so neither is ever met first.
PAYLOAD_LIMIT = 1 << 20


def checked_id(value: str, what: str) -> str:
    """Return *value* if it can name something in every store, else raise `Unacceptable`."""
    if not _ID.match(value):
        msg = f"{what} {value!r}: 1 to 128 of the characters A-Z a-z 0-9 _ . / @ : - are allowed"
        raise Unacceptable(msg)
    return value
