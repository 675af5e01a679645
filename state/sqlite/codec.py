"""
Answers of steps as text, for a repeat of the same operation.

Only the process that asked repeats an operation, and only for seconds, so the text need not
outlive a version of this code. JSON, with each dataclass as `{"Name": [fields…]}`, bytes as
`{"b": base64}`, and what every repeat brings along (the conversation, the inbound) as
`{"k": its place among them}`: an answer mostly tells the caller's own message back.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import fields
from enum import StrEnum
from functools import partial
from typing import Any, get_args, get_type_hints

from state import outcomes, values

_ANSWERS = (
    *(outcomes.Settled, outcomes.Started, outcomes.Turnover, outcomes.Placed),
    *(outcomes.Superseding, outcomes.Signalled, outcomes.Refused, outcomes.Duplicate),
    *(outcomes.Ignored, outcomes.Retrying, outcomes.NotRunning, outcomes.Killed, outcomes.Running),
    *(outcomes.Withdrawn, outcomes.Amended, outcomes.NotWaiting, outcomes.ShardLease),
    *(values.Conversation, values.Inbound, values.Lease, values.Step, values.Page),
)

_FIELDS: dict[type, tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls)) for cls in _ANSWERS
}
_CLASSES: dict[str, Callable[..., object]] = {cls.__name__: cls for cls in _ANSWERS}


def _member_of(hint: object) -> Callable[[Any], Any] | None:
    """Return the enum that *hint* admits, whose members JSON turns into plain strings."""
    for option in (hint, *get_args(hint)):
        if isinstance(option, type) and issubclass(option, StrEnum):
            return option
    return None


_MEMBERS = {
    cls.__name__: tuple(_member_of(get_type_hints(cls)[name]) for name in _FIELDS[cls])
    for cls in _ANSWERS
}


def encode(answer: object, known: Sequence[object] = ()) -> str:
    """Return *answer* as text; *known* is what `decode` will be given too."""
    return json.dumps(
        answer, default=partial(_plain, known), separators=(",", ":"), check_circular=False
    )


def decode(text: str, known: Sequence[object] = ()) -> Any:  # noqa: ANN401 (whoever asks knows the step and so the type)
    """Return the answer that `encode` was given."""
    return json.loads(text, object_hook=partial(_revived, known))


def _plain(known: Sequence[object], value: object) -> dict[str, object]:
    if isinstance(value, bytes):
        return {"b": b64encode(value).decode()}
    if value in known:
        return {"k": known.index(value)}
    cls = type(value)
    return {cls.__name__: [getattr(value, name) for name in _FIELDS[cls]]}


def _revived(known: Sequence[object], plain: dict[str, Any]) -> object:
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
