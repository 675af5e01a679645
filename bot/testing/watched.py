"""A store that tells what each run of a turn did, and at which a process may die."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.endings import Ending
from bot.testing.shown import Run
from bot.testing.store import Clock, Store
from state.errors import LeaseLost
from state.memory import Database
from state.outcomes import Drift, Started, Turnover
from state.values import Outcome

#: What a commit tells about the ending of its turn.
_ENDINGS = {
    Outcome.ANSWERED: Ending.FINISHED,
    Outcome.STOPPED: Ending.STOPPED,
    Outcome.KILLED: Ending.KILLED,
}


@dataclass(slots=True)
class CrashPoint:
    """
    Where the process dies, once.

    After a step is on record, before it is (its effect is done all the same), or when so many pages
    of the reply are on Discord.
    """

    recorded: str | None = None
    done: str | None = None
    pages: int | None = None
    reached: bool = False

    def is_at(self, name: str, arguments: tuple[Any, ...], *, carried_out: bool) -> bool:
        """Whether the process dies before or after this step of the store."""
        if self.reached:
            return False
        match name:
            case "record":
                wanted = self.recorded if carried_out else self.done
                self.reached = arguments[1] == wanted
            case "posted":
                # The worst moment: the page is there, and nothing says so but its nonce.
                self.reached = not carried_out and arguments[1] + 1 == self.pages
            case _:
                pass
        return self.reached


class Watched(Store):
    """One process's handle on the store."""

    def __init__(
        self,
        clock: Clock,
        database: Database,
        runs: list[Run],
        crash_at: CrashPoint,
        die: Callable[[], None],
    ) -> None:
        """Note in *runs* what happens; *die* is called at *crash_at*."""
        super().__init__(clock, database)
        self._runs = runs
        self._crash_at = crash_at
        self._die = die

    async def ask(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:  # noqa: ANN401
        """Carry a step out, and note what it tells about a run."""
        if self.down:
            raise LeaseLost("the process was killed")
        if name == "record":
            self._running(arguments).steps.append(arguments[1])
        await self._perhaps_die(name, arguments, carried_out=False)
        answer = await super().ask(name, arguments, options)
        self._note_end(name, arguments, answer)
        self._note_start(answer)
        await self._perhaps_die(name, arguments, carried_out=True)
        return answer

    async def _perhaps_die(
        self, name: str, arguments: tuple[Any, ...], *, carried_out: bool
    ) -> None:
        if self._crash_at.is_at(name, arguments, carried_out=carried_out):
            self._die()
            await asyncio.Event().wait()  # until it is cancelled: a dead process does nothing

    def _running(self, arguments: tuple[Any, ...]) -> Run:
        return next(run for run in reversed(self._runs) if run.turn == arguments[0].turn)

    def _note_start(self, answer: object) -> None:
        turnover = answer if isinstance(answer, Turnover) else getattr(answer, "turnover", None)
        started: Started | None = turnover.started if turnover is not None else None
        if started is not None:
            replayed = tuple(step.name for step in started.steps)
            self._runs.append(Run(started.lease.turn, replayed))

    def _note_end(self, name: str, arguments: tuple[Any, ...], answer: object) -> None:
        if isinstance(answer, Drift):
            return  # it fails next
        match name:
            case "commit":
                self._running(arguments).ending = _ENDINGS[arguments[1].outcome]
            case "supersede":
                self._running(arguments).ending = Ending.SUPERSEDED
            case "fail":
                run = self._running(arguments)
                run.ending, run.error = Ending.FAILED, arguments[1]
            case "park":
                self._running(arguments).ending = Ending.PARKED
            case _:
                pass
