"""
What a turn keeps: state, key-values and timers, all of which land with the end of the turn.

They land when the turn finishes, and only then: what was cut short may be half a change. Of the
state, the last checkpoint lands however the turn is ended from outside.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

from bot.errors import StateUnreadable
from bot.inbound import Kind, Message, Trigger
from bot.insist import insist
from bot.journal import Journal
from state import keys
from state.ids import checked_id
from state.outcomes import Started
from state.ports import State
from state.values import Timer

#: The version of a state whose cog says none.
FIRST_VERSION = 1

#: Bytes of one remembered value, and of what a timer comes back with, as JSON.
VALUE_LIMIT = 16 * 1024

#: Keys that one turn may write, and timers that it may set or remove.
MOST_KEYS, MOST_TIMERS = 100, 20

#: Characters of a timer's id, which its cog's name and its own make up. Relation: with the 28 that
#: an occurrence puts behind it, it still fits the id of a button (100) under that turn's reply.
TIMER_NAME = 56

#: Seconds between two occurrences of a timer: each is a turn.
LEAST_EVERY = 60.0


class Scope(StrEnum):
    """Whose a remembered value is. Of each owner's, none other sees it."""

    CONVERSATION = "conversation"
    #: Of the person who asked, in whatever conversation of this guild.
    PERSON = "person"
    #: Of the whole guild; in direct messages of the person.
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class _Packed:
    """A state as it is stored."""

    value: bytes
    version: int


class Kept:
    """What one run of a turn has found in the store, and will leave there."""

    def __init__(
        self, state: State, started: Started, journal: Journal, asked_by: Message, carry: object
    ) -> None:
        """*carry* is the checkpoint that the turn before handed on, as `checkpointed` told it."""
        self._store = state
        self._journal = journal
        self._asked_by = asked_by
        self._owner = started.lease.conversation.owner
        self._stored = _packed(started)
        self._checkpoint = _unpacked(carry)
        self._sealed: _Packed | None = None
        self._responder: object = None
        self._puts: dict[tuple[Scope, str], keys.Put] = {}
        self._timers: dict[str, Timer | None] = {}

    # --- state -----------------------------------------------------------------------------------

    def begin(self, responder: object) -> Any:  # noqa: ANN401 (the author's own JSON)
        """Answer the state as *responder* reads it, or raise `StateUnreadable`."""
        self._responder = responder
        found = self._checkpoint or self._stored
        return self._read(json.loads(found.value), found.version) if found else None

    def _read(self, state: object, version: int) -> Any:  # noqa: ANN401 (as above)
        """Bring a state of some version to the responder's own."""
        wanted, name = self._version, type(self._responder).__name__
        if version > wanted:
            raise StateUnreadable(
                f"the state here is of version {version}, and this {name} reads {wanted};"
                " it was left as it is"
            )
        if version == wanted:
            return state
        migrate = getattr(self._responder, "migrate", None)
        if migrate is None:
            raise StateUnreadable(
                f"the state here is of version {version}, and {name}, which writes {wanted},"
                " has no migrate(state, version); it was left as it is"
            )
        try:
            return migrate(state, version)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise StateUnreadable(f"{name}.migrate(…, {version}) failed: {why}") from error

    @property
    def _version(self) -> int:
        return int(getattr(self._responder, "state_version", FIRST_VERSION))

    async def checkpoint(self, state: object) -> Any:  # noqa: ANN401 (as above)
        """Record *state* as it is now; answer what is recorded, which a replay sees again."""

        async def now(_key: str) -> dict[str, Any]:
            return {"state": state, "version": self._version}

        told = await self._journal.step("checkpoint", now)
        self._checkpoint = _unpacked(told)
        return self._read(told["state"], told["version"])

    @property
    def checkpointed(self) -> object:
        """The last checkpoint, to be handed on to a turn that replaces this one."""
        if (last := self._checkpoint) is None:
            return None
        return {"state": json.loads(last.value), "version": last.version}

    def seal(self, state: object) -> None:
        """Take what the state has become at the end; raise `TypeError` if it is not JSON."""
        stored = self._stored
        same = json.loads(stored.value) == state if stored else state is None
        if not same or (stored is not None and stored.version != self._version):
            self._sealed = _Packed(json.dumps(state).encode(), self._version)

    def state(self, *, finished: bool) -> tuple[bytes | None, int]:
        """The state to be written, None leaves it as it is, and its version."""
        packed = self._sealed if finished else self._checkpoint
        return (packed.value, packed.version) if packed else (None, 0)

    # --- key-values ------------------------------------------------------------------------------

    def remember(self, key: str, value: object, scope: Scope) -> None:
        """See `Turn.remember`."""
        self._puts[scope, key] = self._put(scope, key, value)
        if len(self._puts) > MOST_KEYS:
            raise ValueError(f"a turn remembers at most {MOST_KEYS} keys")

    async def recall(self, key: str, default: object, scope: Scope) -> Any:  # noqa: ANN401 (as above)
        """See `Turn.recall`."""
        if (own := self._puts.get((scope, key))) is not None:
            found = own.value
        else:
            put = self._put(scope, key, None)
            found = await insist(lambda: self._store.get(put.scope, put.key))
        return default if found is None else json.loads(found)

    def puts(self) -> tuple[keys.Put, ...]:
        """The keys to be written."""
        return tuple(self._puts.values())

    def _put(self, scope: Scope, key: str, value: object) -> keys.Put:
        where = {
            Scope.CONVERSATION: keys.Scope(self._owner, conversation=self._asked_by.channel),
            Scope.PERSON: keys.Scope(self._owner, person=self._asked_by.author.id),
            Scope.OWNER: keys.Scope(self._owner),
        }
        packed = None if value is None else _json(value, f"remember({key!r})")
        # Cogs do not see each other's keys, nor ours.
        return keys.Put(where[scope], f"{self._asked_by.responder}.{key}", packed)

    # --- timers ----------------------------------------------------------------------------------

    def schedule(self, name: str, delay: float, every: float | None, payload: object) -> None:
        """See `Turn.schedule`."""
        if delay < 0 or (every is not None and every < LEAST_EVERY):
            raise ValueError(
                f"timer {name!r}: delay {delay:g} s, at least 0; every {every} s,"
                f" at least {LEAST_EVERY:g} s"
            )
        _json(payload, f"timer {name!r}")
        fires = replace(
            self._asked_by,
            text="",
            addressed=False,
            reply_to=None,
            attachments=(),
            caught_up=False,
            deferred=None,
            trigger=Trigger(Kind.TIMER, name, payload),
        )
        id_ = self._timer_id(name)
        self._set(id_, Timer(id_, fires.inbound(), delay, every))

    def unschedule(self, name: str) -> None:
        """See `Turn.unschedule`."""
        self._set(self._timer_id(name), None)

    def _set(self, id_: str, timer: Timer | None) -> None:
        self._timers[id_] = timer
        if len(self._timers) > MOST_TIMERS:
            raise ValueError(f"a turn sets and removes at most {MOST_TIMERS} timers")

    def _timer_id(self, name: str) -> str:
        id_ = f"{self._asked_by.responder}.{name}"
        if len(id_) > TIMER_NAME:
            raise ValueError(f"timer {name!r}: {id_!r} has more than {TIMER_NAME} characters")
        return checked_id(id_, "timer")

    def timers(self) -> tuple[Timer, ...]:
        """The timers to be set."""
        return tuple(timer for timer in self._timers.values() if timer is not None)

    def unscheduled(self) -> tuple[str, ...]:
        """Ids of the timers to be removed."""
        return tuple(id_ for id_, timer in self._timers.items() if timer is None)


def _packed(started: Started) -> _Packed | None:
    if started.state is None:
        return None
    return _Packed(started.state, started.state_version)


def _unpacked(checkpoint: object) -> _Packed | None:
    if checkpoint is None:
        return None
    told = cast("Mapping[str, Any]", checkpoint)
    return _Packed(json.dumps(told["state"]).encode(), told["version"])


def _json(value: object, what: str) -> bytes:
    packed = json.dumps(value).encode()
    if len(packed) > VALUE_LIMIT:
        raise ValueError(f"{what}: {len(packed)} bytes of JSON, {VALUE_LIMIT} are allowed")
    return packed
