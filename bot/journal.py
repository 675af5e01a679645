"""
Steps: effects of a turn whose results are kept, so that a replay does not run them again.

A step runs at least once and is recorded once. Between its effect and its record the process may
die; the idempotency key, equal on every replay, lets the outside recognise the repeat.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from bot.errors import TurnTimedOut
from bot.insist import insist
from state.ports import State
from state.values import Lease, Step

Result = TypeVar("Result")


class Journal:
    """The recorded steps of one turn, and those that this run has asked for."""

    def __init__(
        self,
        state: State,
        lease: Lease,
        steps: Iterable[Step],
        *,
        seconds: float,
        progressed: Callable[[], None],
    ) -> None:
        """*seconds* bounds each step; *progressed* is called whenever one has been recorded."""
        self._state = state
        self._lease = lease
        self._recorded = {(step.name, step.key): step.value for step in steps}
        self._uses: Counter[str] = Counter()
        self._seconds = seconds
        self._progressed = progressed
        self.asked: set[tuple[str, str]] = set()

    @property
    def recorded(self) -> frozenset[tuple[str, str]]:
        """The recorded steps as (name, key)."""
        return frozenset(self._recorded)

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the recorded steps, in order; a name as often as it was used."""
        return tuple(name for name, _ in self._recorded)

    def excuse(self, name: str) -> None:
        """Let a replay do without the recorded steps of *name*: they have left nothing outside."""
        self.asked |= {step for step in self._recorded if step[0] == name}

    async def step(
        self,
        name: str,
        effect: Callable[[str], Awaitable[Result]],
        key: str | None = None,
    ) -> Result:
        """
        Answer the recorded result of this step, or run *effect* and record what it returns.

        *effect* gets the idempotency key `conversation/turn/name/key`. *key* defaults to the n-th
        use of *name*; effects that run in parallel pass their own. The result must be JSON; it is
        returned as it was recorded (a tuple comes back as a list), on the first run as on a replay.
        Raise `TurnTimedOut` over the limit, `TypeError` when the result is not JSON.
        """
        self._uses[name] += 1
        key = key if key is not None else str(self._uses[name])
        self.asked.add((name, key))
        if (name, key) not in self._recorded:
            value = json.dumps(await self._run(name, effect, key), ensure_ascii=False)
            self._recorded[name, key] = await insist(
                # A lone surrogate, which a torn emoji leaves, is no reason to lose the result.
                lambda: self._state.record(
                    self._lease, name, key, value.encode("utf-8", "surrogatepass")
                )
            )
        self._progressed()
        result: Any = json.loads(self._recorded[name, key])
        return result  # type: ignore[no-any-return]

    async def _run(self, name: str, effect: Callable[[str], Awaitable[Result]], key: str) -> Result:
        lease = self._lease
        deadline = asyncio.timeout(self._seconds)
        try:
            async with deadline:
                return await effect(f"{lease.conversation.id}/{lease.turn}/{name}/{key}")
        except TimeoutError:
            if not deadline.expired():  # the effect's own timeout, not our limit
                raise
            msg = f"the step {name!r} took longer than limits.step ({self._seconds:g} s)"
            raise TurnTimedOut(msg) from None
