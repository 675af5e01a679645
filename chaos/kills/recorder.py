"""
Writes down every call of the store with when it was made and answered, for the lock's judge.

Each line is written before the next thing happens, so that the calls in flight at a kill are known.
"""

import itertools
import json
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from chaos.kills.steps import Steps
from state import State
from state.errors import LeaseLost
from state.outcomes import Held, Placed, Signalled, Started, Superseding, Turnover
from state.values import Conversation, Lease

#: Steps that may grant a lease to somebody who has none.
ASKING = frozenset({"admit", "claim"})
#: Steps that write under a lease, and that end one.
WRITING = frozenset({"record", "page", "posted", "take"})
ENDING = frozenset({"commit", "supersede", "fail", "park"})


class Recorder:
    """A `State` whose steps are written down."""

    def __init__(self, state: State, folder: Path, steps: Steps) -> None:
        """Write to a file of this process's own in *folder*, and tell *steps* what was taken."""
        self._state, self._steps = state, steps
        self._numbers = itertools.count()
        path = folder / f"history-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def __getattr__(self, name: str) -> object:
        """Give a step, written down if it is about leases."""
        step = getattr(self._state, name)
        if name in ASKING or name in WRITING or name in ENDING:
            return partial(self._step, name, step)
        return partial(self._renew, step) if name == "renew" else step

    async def _step(
        self,
        name: str,
        step: Callable[..., Awaitable[object]],
        *args: Any,  # noqa: ANN401 (each step its own)
        **kwargs: Any,  # noqa: ANN401
    ) -> object:
        about: Conversation | Lease = args[0]
        token = about.token if isinstance(about, Lease) else None
        where = about.conversation if isinstance(about, Lease) else about
        claim = kwargs.get("claim")
        call = self._called(
            where.id, name, token, kwargs.get("op"), claim.seconds if claim else 0.0
        )
        began = time.monotonic()
        try:
            answer = await step(*args, **kwargs)
        except LeaseLost:
            self._answered(call, "refused")
            raise
        self._answered(call, "done", granted(answer))
        if name not in ASKING:
            self._steps.tell(time.monotonic() - began)
        return answer

    async def _renew(
        self,
        step: Callable[[Sequence[Lease], float], Awaitable[Sequence[object]]],
        leases: Sequence[Lease],
        seconds: float,
    ) -> Sequence[object]:
        calls = [
            self._called(lease.conversation.id, "renew", lease.token, None, seconds)
            for lease in leases
        ]
        answers = await step(leases, seconds)
        for call, answer in zip(calls, answers, strict=True):
            self._answered(call, "done" if isinstance(answer, Held) else "refused")
        return answers

    def _called(
        self, where: str, step: str, token: str | None, op: str | None, seconds: float
    ) -> int:
        number = next(self._numbers)
        self._write([number, time.monotonic(), where, step, token, op, seconds])
        return number

    def _answered(self, call: int, how: str, token: str | None = None) -> None:
        self._write([call, time.monotonic(), how, token])

    def _write(self, line: list[Any]) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")


def recorded(state: State, folder: Path, steps: Steps) -> State:
    """Return *state* with its steps written down in *folder*, and told to *steps*."""
    return cast("State", Recorder(state, folder, steps))


def granted(answer: object) -> str | None:
    """The token that an answer grants, if it starts a turn."""
    match answer:
        case Turnover(started=Started(lease=lease)):
            return lease.token
        case Placed() | Superseding() | Signalled():
            return granted(answer.turnover)
        case _:
            return None
