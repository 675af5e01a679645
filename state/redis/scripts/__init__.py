"""
The Lua scripts, one a step, read from the files beside this one.

A script is sent by its hash; the text travels once per server. What several scripts share lies in
`shared/` and is put before their own lines; the limits of the port come first of all.
"""

from dataclasses import dataclass
from hashlib import sha1
from importlib.resources import files

from state.ports import DEAD_LETTER_LIMIT, MAX_EXPIRIES, OP_WINDOW, SEEN_WINDOW

#: Ids in one bucket of seen ids. Redis packs a set of integers into 8 bytes each up to 512 members
#: (`set-max-intset-entries`) and takes eight times as much beyond.
BUCKET_SIZE = 500

#: Microseconds, as everything that Lua counts in time.
_LIMITS = f"""\
local BUCKET_SIZE = {BUCKET_SIZE}
local DEAD_LETTER_LIMIT = {DEAD_LETTER_LIMIT}
local HOUR = {3600 * 10**6}
local MAX_EXPIRIES = {MAX_EXPIRIES}
local OP_WINDOW = {int(OP_WINDOW * 1e6)}
local SEEN_WINDOW = {int(SEEN_WINDOW * 1e6)}
"""


@dataclass(frozen=True, slots=True)
class Script:
    """One script: the step it is named after, its text, and the hash that Redis knows it by."""

    name: str
    text: str
    sha: str


def _script(name: str, *shared: str) -> Script:
    here = files(__name__)
    parts = [here / "shared" / f"{part}.lua" for part in shared] + [here / f"{name}.lua"]
    text = _LIMITS + "".join(part.read_text("utf-8") for part in parts)
    return Script(name, text, sha1(text.encode(), usedforsecurity=False).hexdigest())


_CONVERSATION = ("clock", "conversation")
_HANDOVER = ("clock", "conversation", "handover")

OPEN = _script("open")
ADMIT = _script("admit", *_HANDOVER)
CLAIM = _script("claim", *_HANDOVER)
RENEW = _script("renew", "clock")
SUPERSEDE = _script("supersede", *_HANDOVER)
TAKE = _script("take", *_HANDOVER)
RECORD = _script("record", *_CONVERSATION)
PAGE = _script("page", *_CONVERSATION)
POSTED = _script("posted", *_CONVERSATION)
COMMIT = _script("commit", *_HANDOVER)
FAIL = _script("fail", *_HANDOVER)
PARK = _script("park", *_HANDOVER)
SIGNAL = _script("signal", *_HANDOVER)
KILL = _script("kill", *_HANDOVER)
DUE = _script("due", "clock")
VIEW = _script("view", *_CONVERSATION)
HISTORY = _script("history", *_CONVERSATION)
RESET = _script("reset", *_HANDOVER)
UNSUBSCRIBE = _script("unsubscribe", *_HANDOVER)
