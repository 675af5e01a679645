"""
What a turn keeps: state, key-values and timers, all of which land with the end of the turn.

They land when the turn finishes, and only then: what was cut short may be half a change. Of the
state, the last checkpoint lands however the turn is ended from outside.
"""

import copy
import json
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypedDict, cast

from bot.errors import StateUnreadable
from bot.inbound import Kind, Message, Trigger
from bot.insist import insist
from bot.journal import Journal
from state import keys
from state.ids import PAYLOAD_LIMIT, checked_id
from state.outcomes import Started
from state.ports import State
from state.values import Timer

#: How the states of a conversation are stored: as a JSON object of them by the name of the cog.
FORMAT = 1

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


class _State(TypedDict):
    """What one cog keeps with a conversation."""

    version: int
    state: Any


#: By the name of the cog.
_States = dict[str, _State]


class Kept:
    """What one run of a turn has found in the store, and will leave there."""

    def __init__(
        self, state: State, started: Started, journal: Journal, asked_by: Message, carry: object
    ) -> None:
        """*carry* is what the turn that this one replaces had checkpointed."""
        self._store = state
        self._journal = journal
        self._asked_by = asked_by
        self._owner = started.lease.conversation.owner
        self._conversation = started.lease.conversation.id
        self._version_found = started.state_version
        self._stored: _States = json.loads(started.state or b"{}")
        #: The same with all checkpoints.
        self._checkpointed: _States = {**self._stored, **cast("_States", carry or {})}
        self._sealed = self._checkpointed
        self._responder: object = None
        self._puts: dict[tuple[Scope, str], keys.Put] = {}
        self._timers: dict[str, Timer | None] = {}

    # --- state -----------------------------------------------------------------------------------

    def begin(self, responder: object) -> Any:  # noqa: ANN401 (the author's own JSON)
        """Answer the state as *responder* reads it, or raise `StateUnreadable`."""
        if self._version_found > FORMAT:
            raise StateUnreadable("the state here was written by a newer build; it was left alone")
        self._responder = responder
        found = self._checkpointed.get(self._asked_by.responder)
        return self._read(found) if found else None

    def _read(self, found: _State) -> Any:  # noqa: ANN401 (as above)
        """Bring a state of some version to the responder's own."""
        state, version = copy.deepcopy(found["state"]), found["version"]
        wanted, name = self._version, self._asked_by.responder
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

        async def now(_key: str) -> _State:
            self._with(own := _State(version=self._version, state=state))  # or say why not
            return own

        told = await self._journal.step("checkpoint", now)
        self._checkpointed = self._with(told)
        return self._read(told)

    @property
    def carry(self) -> Mapping[str, object]:
        """What was checkpointed and is not stored yet, for a turn that replaces this one."""
        return {
            name: state
            for name, state in self._checkpointed.items()
            if self._stored.get(name) != state
        }

    def seal(self, state: object) -> None:
        """Take what the state has become at the end; raise `TypeError` if it is not JSON."""
        self._sealed = self._with({"version": self._version, "state": json.loads(_packed(state))})

    def state(self, *, finished: bool) -> bytes | None:
        """The states to be written; None leaves what is stored."""
        states = self._sealed if finished else self._checkpointed
        return None if states == self._stored else _packed(states)

    def _with(self, state: _State) -> _States:
        """Put the responder's state among those of the other cogs that speak here."""
        others = {**self._checkpointed}
        others.pop(self._asked_by.responder, None)
        if state["state"] is None:
            return others
        states = {**others, self._asked_by.responder: state}
        if (size := len(_packed(states))) > PAYLOAD_LIMIT:
            raise ValueError(f"the state has {size} bytes of JSON, {PAYLOAD_LIMIT} are allowed")
        return states

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
            Scope.CONVERSATION: keys.Scope(self._owner, conversation=self._conversation),
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


def _packed(value: object) -> bytes:
    return json.dumps(value).encode()


def _json(value: object, what: str) -> bytes:
    packed = _packed(value)
    if len(packed) > VALUE_LIMIT:
        raise ValueError(f"{what}: {len(packed)} bytes of JSON, {VALUE_LIMIT} are allowed")
    return packed
