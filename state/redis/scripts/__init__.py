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

from state.ids import PAYLOAD_LIMIT
from state.ports import (
    ANSWER_WINDOW,
    BEAT_WINDOW,
    CATCH_UP_LIMIT,
    DEAD_LETTER_LIMIT,
    MAX_EXPIRIES,
    OP_WINDOW,
    SEEN_WINDOW,
    USAGE_DAYS,
)
from state.redis.resp import packed

#: Ids in one bucket of seen ids. Redis packs a set of integers into 8 bytes each up to 512 members
#: (`set-max-intset-entries`) and takes eight times as much beyond.
BUCKET_SIZE = 500

#: Answers of one conversation that may lie about for longer than `OP_WINDOW` before they are looked
#: through: few conversations have more within it.
FEW_ANSWERS = 8

#: Microseconds, as everything that Lua counts in time.
_LIMITS = f"""\
local ANSWER_WINDOW = {int(ANSWER_WINDOW * 1e6)}
local BEAT_WINDOW_MS = '{int(BEAT_WINDOW * 1e3)}'
local BUCKET_SIZE = {BUCKET_SIZE}
local CATCH_UP_LIMIT = {CATCH_UP_LIMIT}
local DAY = {86_400 * 10**6}
local DEAD_LETTER_LIMIT = {DEAD_LETTER_LIMIT}
local FEW_ANSWERS = {FEW_ANSWERS}
local HOUR = {3600 * 10**6}
local MAX_EXPIRIES = {MAX_EXPIRIES}
local PAYLOAD_LIMIT = {PAYLOAD_LIMIT}
local OP_WINDOW = {int(OP_WINDOW * 1e6)}
local OP_WINDOW_MS = '{int(OP_WINDOW * 1e3)}'
local SEEN_WINDOW = {int(SEEN_WINDOW * 1e6)}
local USAGE_DAYS = {USAGE_DAYS}
"""

_INCLUDE = re.compile(r"^ *-- include (\w+)\n", re.MULTILINE)


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
RIGHTS = _script("rights")
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
ACQUIRE = _script("acquire")
RELEASE = _script("release")
STEAL = _script("steal")
SIGNAL = _script("signal")
KILL = _script("kill")
WITHDRAW = _script("withdraw")
AMEND = _script("amend")
SCHEDULE = _script("schedule")
UNSCHEDULE = _script("unschedule")
REQUEUE = _script("requeue")
DISCARD = _script("discard")
DUE = _script("due")
VIEW = _script("view")
HISTORY = _script("history")
LISTED = _script("listed")
GIVEN = _script("given")
RESET = _script("reset")
SUBSCRIBE = _script("subscribe")
UNSUBSCRIBE = _script("unsubscribe")
GET = _script("get")
PUT = _script("put")
PUT_IF_ABSENT = _script("put_if_absent")
DELETE = _script("delete")
APPEND = _script("append")
ITEMS = _script("items")
INCREMENT = _script("increment")
USAGE = _script("usage")
CLAIM_SHARDS = _script("claim_shards")
RENEW_SHARDS = _script("renew_shards")
IDENTIFY_GATE = _script("identify_gate")
TOMBSTONE = _script("tombstone")
FORGET = _script("forget")
ERASE = _script("erase")
SET_ASIDE = _script("set_aside")
