"""
Answers of steps as text, for a repeat of the same operation.

Only the process that asked repeats an operation, and only for seconds, so the text need not
outlive a version of this code. JSON, with each dataclass as `{"Name": [fields…]}`, bytes as
`{"b": base64}`, and what every repeat brings along (the conversation, the inbound) as
`{"k": its place among them}`: an answer mostly tells the caller's own message back. The two that
nearly every turn consists of, a message that starts at once and an end after which nothing waits,
have a short form.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from functools import partial
from operator import attrgetter
from typing import Any, get_args, get_type_hints

from state import outcomes, values

_ANSWERS = (
    *(outcomes.Settled, outcomes.Started, outcomes.Turnover, outcomes.Placed),
    *(outcomes.Superseding, outcomes.Signalled, outcomes.Refused, outcomes.Duplicate),
    *(outcomes.Ignored, outcomes.Retrying, outcomes.NotRunning, outcomes.Killed, outcomes.Running),
    *(outcomes.Withdrawn, outcomes.Amended, outcomes.NotWaiting, outcomes.ShardLease),
    *(values.Conversation, values.Inbound, values.Lease, values.Step, values.Page),
)


def _names(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


def _reader(names: tuple[str, ...]) -> Callable[[object], tuple[object, ...]]:
    """Return what reads all fields at once; most answers are encoded and never asked for."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


_READERS: dict[type, Callable[[object], tuple[object, ...]]] = {
    cls: _reader(_names(cls)) for cls in _ANSWERS
}
_CLASSES: dict[str, Callable[..., object]] = {cls.__name__: cls for cls in _ANSWERS}


def _member_of(hint: object) -> Callable[[Any], Any] | None:
    """Return the enum that *hint* admits, whose members JSON turns into plain strings."""
    for option in (hint, *get_args(hint)):
        if isinstance(option, type) and issubclass(option, StrEnum):
            return option
    return None


_MEMBERS = {
    cls.__name__: tuple(_member_of(get_type_hints(cls)[name]) for name in _names(cls))
    for cls in _ANSWERS
}


#: A conversation, and an inbound if the step has one.
Known = tuple[values.Conversation, values.Inbound | None]

_NOTHING = outcomes.Turnover()


def encode(answer: object, known: Known) -> str:
    """Return *answer* as text; *known* is what `decode` will be given too."""
    if answer == _NOTHING:
        return ""
    if isinstance(answer, outcomes.Placed) and (started := answer.turnover.started) is not None:
        lease = started.lease
        if answer == _started_at_once(known, lease.token, lease.expires):
            return f"{lease.token} {lease.expires}"
    return json.dumps(
        answer, default=partial(_plain, known), separators=(",", ":"), check_circular=False
    )


def decode(text: str, known: Known) -> Any:  # noqa: ANN401 (whoever asks knows the step and so the type)
    """Return the answer that `encode` was given."""
    if not text:
        return _NOTHING
    if text[0].isdigit() and " " in text:
        token, _, expires = text.partition(" ")
        return _started_at_once(known, token, int(expires))
    return json.loads(text, object_hook=partial(_revived, known))


def _started_at_once(known: Known, token: str, expires: int) -> outcomes.Placed | None:
    """Return the answer to an inbound that made a turn of a conversation without a past."""
    conversation, inbound = known
    if inbound is None:
        return None
    lease = values.Lease(conversation, inbound.id, token, expires)
    return outcomes.Placed(0, outcomes.Turnover(outcomes.Started(lease, (inbound,))))


def _plain(known: Known, value: object) -> dict[str, object]:
    if isinstance(value, bytes):
        return {"b": b64encode(value).decode()}
    if isinstance(value, values.Inbound | values.Conversation) and value in known:
        return {"k": known.index(value)}
    cls = type(value)
    return {cls.__name__: _READERS[cls](value)}


def _revived(known: Known, plain: dict[str, Any]) -> object:
    ((name, content),) = plain.items()
    if name == "b":
        return b64decode(content)
    if name == "k":
        return known[content]
    return _CLASSES[name](*map(_field, _MEMBERS[name], content))


def _field(member: Callable[[Any], Any] | None, value: Any) -> object:  # noqa: ANN401 (any field of any answer)
    if isinstance(value, list):
        return tuple(value)
    return member(value) if member is not None and value is not None else value
