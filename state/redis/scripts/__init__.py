"""
The Lua scripts, one a step, read from the files beside this one.

A script is sent by its hash; the text travels once per server. `-- include <name>` stands for the
lines of `shared/<name>.lua`: a function costs its definition each time a script runs, so a script
defines what it needs where it needs it. The limits of the port come first of all.
"""

import re
from dataclasses import dataclass
from hashlib import sha1
from importlib.resources import files

from state.ports import DEAD_LETTER_LIMIT, MAX_EXPIRIES, OP_WINDOW, SEEN_WINDOW
from state.redis.resp import packed

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

_INCLUDE = re.compile(r"^-- include (\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Script:
    """One script: the step it is named after, its text, and the hash that Redis knows it by."""

    name: str
    text: str
    sha: str
    #: The start of a call, after the number of its parts.
    packed: bytes


def _script(name: str) -> Script:
    here = files(__name__)

    def shared(included: re.Match[str]) -> str:
        return (here / "shared" / f"{included[1]}.lua").read_text("utf-8")

    text = _LIMITS + _INCLUDE.sub(shared, (here / f"{name}.lua").read_text("utf-8"))
    sha = sha1(text.encode(), usedforsecurity=False).hexdigest()
    return Script(name, text, sha, packed(["EVALSHA", sha]))


OPEN = _script("open")
ADMIT = _script("admit")
CLAIM = _script("claim")
RENEW = _script("renew")
SUPERSEDE = _script("supersede")
TAKE = _script("take")
RECORD = _script("record")
PAGE = _script("page")
POSTED = _script("posted")
COMMIT = _script("commit")
FAIL = _script("fail")
PARK = _script("park")
SIGNAL = _script("signal")
KILL = _script("kill")
DUE = _script("due")
VIEW = _script("view")
HISTORY = _script("history")
RESET = _script("reset")
UNSUBSCRIBE = _script("unsubscribe")
