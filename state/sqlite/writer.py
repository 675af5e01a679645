"""
The one thread that talks to the file, and the group commit.

SQLite's commit waits for the disk, so it never runs on the event loop. All steps that were asked
for in one tick of the loop, and those that gathered while the last commit waited, run in one
transaction and are answered once it is on disk.
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from state.errors import Gone, LeaseLost, StateError, StateUnavailable
from state.sqlite import file, purging
from state.sqlite.hints import Channel
from state.sqlite.opened import Opened
from state.sqlite.signals import signals
from state.sqlite.transaction import Transaction
from state.values import Signal

Answer = TypeVar("Answer")
Step = Callable[[Transaction], object]

#: Seconds after which a step that has not run is given up.
#: Relation: with the wait for a lock, the 5 s within which every call answers.
DEADLINE = 4.5

#: Seconds between two looks for calls beyond their deadline.
LOOK = 0.25

#: Seconds between two looks for signals that other processes wrote, while somebody listens.
POLL = 0.1

#: Seconds before another attempt while another process holds the write lock.
AGAIN = 0.005

#: Steps in one transaction, about: the first of a flood is not kept waiting by the last, nor is
#: another process for longer than some 50 ms.
BATCH = 512

#: Steps between two looks for what is too old: rare enough to cost a lone step little, and often
#: enough that the file holds hardly more than the windows.
PURGE = 32


@dataclass(slots=True, eq=False)
class Call:
    """A step that somebody awaits."""

    step: Step
    writes: bool
    answer: asyncio.Future[object]
    deadline: float = field(default_factory=lambda: time.monotonic() + DEADLINE)


@dataclass(slots=True)
class Settings:
    """What the thread opens the file with."""

    path: str
    partitions: int
    clock: Callable[[], float]
    synchronous: str


class Writer:
    """A thread that owns one connection. Made, called and stopped on one event loop."""

    def __init__(self, settings: Settings, channel: Channel) -> None:
        """Start the thread; `opened` tells when and whether its file is open."""
        self._settings = settings
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[int] = self._loop.create_future()
        self.closed: asyncio.Future[None] = self._loop.create_future()
        self._tick: list[Call] = []
        self._asked: deque[Call] = deque()
        self._looking: asyncio.TimerHandle | None = None
        self._queue: queue.SimpleQueue[list[Call] | None] = queue.SimpleQueue()
        self._ending = False
        self._unpurged = 0
        # A daemon, so that a program that never closes its state can still end.
        self._thread = threading.Thread(target=self._run, name="interlock-sqlite", daemon=True)
        self._thread.start()

    # --- on the event loop ----------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether the file is open."""
        return self.opened.done() and self.opened.exception() is None

    @property
    def failed(self) -> bool:
        """Whether the file could not be opened; the thread has ended then."""
        return self.opened.done() and self.opened.exception() is not None

    def ask(self, step: Step, *, writes: bool) -> asyncio.Future[object]:
        """Have *step* run in the transaction of this tick; the future tells its answer."""
        call = Call(step, writes, self._loop.create_future())
        if not self._tick:
            self._loop.call_soon(self._send)
        self._tick.append(call)
        return call.answer

    def _send(self) -> None:
        calls, self._tick = self._tick, []
        self._asked.extend(calls)
        for start in range(0, len(calls), BATCH):
            self._queue.put(calls[start : start + BATCH])
        if calls and self._looking is None:
            self._looking = self._loop.call_later(LOOK, self._look)

    def _look(self) -> None:
        """Give up calls beyond their deadline, should the thread itself hang on its disk."""
        now = time.monotonic()
        while self._asked and (self._asked[0].answer.done() or self._asked[0].deadline < now):
            refuse(self._asked.popleft(), self._overdue())
        self._looking = self._loop.call_later(LOOK, self._look) if self._asked else None

    def _overdue(self) -> StateUnavailable:
        return StateUnavailable(f"{self._settings.path}: no answer within {DEADLINE:g} s")

    def wake(self) -> None:
        """Have the thread notice that somebody listens."""
        self._queue.put([])

    async def stop(self) -> None:
        """Run what was asked for, close the file and join the thread."""
        self._send()
        self._queue.put(None)
        await asyncio.shield(self.closed)
        self._thread.join()
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _deliver(self, calls: list[Call], answers: list[object]) -> None:
        for call, answer in zip(calls, answers, strict=True):
            if call.answer.done():
                continue
            if isinstance(answer, Exception):
                call.answer.set_exception(answer)
            else:
                call.answer.set_result(answer)
        while self._asked and self._asked[0].answer.done():
            self._asked.popleft()

    # --- in the thread --------------------------------------------------------------------------

    def _tell(self, callback: Callable[..., object], *arguments: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _run(self) -> None:
        settings = self._settings
        try:
            self._file = Opened(settings.path, settings.synchronous, settings.partitions)
        except Exception as error:  # noqa: BLE001 (it is raised where the opening is awaited)
            self._tell(settle, self.opened, error)
            self._tell(settle, self.closed, None)
            return
        self._version, self._polled = 0, 0.0
        self._tell(settle, self.opened, self._file.partitions)
        try:
            while not self._ending:
                self._transact(self._next())
                self._poll()
        finally:
            self._file.close()
            self._tell(settle, self.closed, None)

    def _next(self) -> list[Call]:
        """Wait for calls, and take along what else has gathered."""
        calls: list[Call] = []
        try:
            timeout = POLL if self._channel.heard else None
            batch = self._queue.get(timeout=timeout)
            while batch is not None:
                calls += batch
                if len(calls) >= BATCH:
                    return calls
                batch = self._queue.get_nowait()
            self._ending = True
        except queue.Empty:
            pass
        return calls

    def _transact(self, calls: list[Call]) -> None:
        """Run the steps that are still wanted in one transaction, and answer them."""
        while calls := self._wanted(calls):
            try:
                hints, answers = self._commit(calls)
            except Exception as error:  # noqa: BLE001 (it is raised where the step is awaited)
                self._undo()
                if not file.busy(error):
                    self._isolate(calls, error)
                    return
                time.sleep(AGAIN)  # SQLite has waited already, as a rule
            else:
                self._tell(self._deliver, calls, answers)
                if hints:
                    self._channel.publish(hints)
                return

    def _wanted(self, calls: list[Call]) -> list[Call]:
        """Leave out the calls whose caller is gone, and those that have waited too long."""
        now = time.monotonic()
        wanted = [call for call in calls if not call.answer.done()]
        overdue = [call for call in wanted if call.deadline < now]
        if not overdue:
            return wanted
        self._tell(self._deliver, overdue, [self._overdue() for _ in overdue])
        return [call for call in wanted if call.deadline >= now]

    def _commit(self, calls: list[Call]) -> tuple[list[Signal], list[object]]:
        """Run all steps and commit them; answer the signals to publish, and their answers."""
        self._file.follow()
        cursor = self._file.connection.cursor()
        execute = cursor.execute
        writes = any(call.writes for call in calls)
        # A deferred transaction that reads and then writes fails at once under a second writer.
        execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        now = int(self._settings.clock() * 1e6)
        transaction = Transaction(execute, cursor.executemany, now, self._file.partitions)
        answers = [attempt(call.step, transaction) for call in calls]
        if writes:
            transaction.finish()
            self._purge(transaction, len(calls))
        execute("COMMIT")
        return transaction.signals, answers

    def _purge(self, transaction: Transaction, steps: int) -> None:
        """Drop what is too old, twice as much as the steps may have added since the last time."""
        self._unpurged += steps
        if self._unpurged >= PURGE:
            purging.purge(transaction, 2 * self._unpurged)
            self._unpurged = 0

    def _undo(self) -> None:
        # Some errors have ended the transaction already; one that cannot be ended fails the next.
        with suppress(sqlite3.Error):
            self._file.connection.execute("ROLLBACK")

    def _isolate(self, calls: list[Call], error: Exception) -> None:
        """Run the steps of a broken transaction one by one, so that only the broken one fails."""
        if len(calls) > 1:
            for call in calls:
                self._transact([call])
            return
        if isinstance(error, sqlite3.Error):
            error = file.unavailable(error, self._settings.path)
        self._tell(self._deliver, calls, [error])

    def _poll(self) -> None:
        """Look for signals of other processes, if anything was written and anybody listens."""
        if not self._channel.heard or time.monotonic() < self._polled + POLL:
            return
        self._polled = time.monotonic()
        try:
            (version,) = self._file.connection.execute("PRAGMA data_version").fetchone()
            if version != self._version:
                self._version = version
                self._channel.observe(signals(self._file.connection.execute))
        except sqlite3.Error:
            return  # a hint may be lost; the step that meets the same error tells it


def attempt(step: Step, transaction: Transaction) -> object:
    """
    Run one step; answer its result, or its refusal.

    These refusals are always raised before the first write, so that the transaction can go on; any
    other exception may leave half a step behind and ends it.
    """
    try:
        return step(transaction)
    except (LeaseLost, Gone) as refusal:
        return refusal


def settle(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    """Set a future that nobody may have waited for."""
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
        future.exception()  # retrieved, should the only waiter have been cancelled
    else:
        future.set_result(answer)


def refuse(call: Call, error: StateError) -> None:
    """Answer a call that is still awaited with an error."""
    if not call.answer.done():
        call.answer.set_exception(error)
