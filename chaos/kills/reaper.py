"""Forks processes of the bot, kills them one after the other with -9, and Redis as well."""

import asyncio
import gc
import os
import random
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bot.snowflake import DISCORD_EPOCH
from chaos.kills.bot import Scene, live
from chaos.kills.outside import Outside
from chaos.kills.steps import Steps
from chaos.kills.trouble import TROUBLES, Trouble
from state import connect
from state.errors import StateUnavailable
from state.keys import Scope
from state.values import Conversation

#: Processes that live at once, and channels that they share.
PROCESSES, CHANNELS = 4, 20

#: Calls by which the machine is judged before the first kill.
CALLS = 20

#: Most steps that the store takes between two kills. Relation: half of them are a turn and a half;
#: with none in between a process dies while it starts.
STEPS = 12

#: Most seconds between two kills while the store takes no steps, as a slot moves.
BETWEEN = 0.03

#: Kills between two freezes, and leases that one lasts: some who wake still hold theirs, and some
#: do not.
FREEZES_EVERY, FROZEN = 20, (0.4, 2.0)

#: Seconds between two looks at who is to wake.
LOOKS_EVERY = 0.05

#: Seconds without a step after which nothing is hoped for. Relation: six of the longest freezes.
PATIENCE = 120.0

#: Milliseconds by which the first message is older than now, so that none is of the future.
EARLIER = 6 * 3600 * 1000

OWNER = "guild/301"


@dataclass(slots=True)
class Reaped:
    """What was done."""

    kills: int = 0
    #: Kills of Redis, or ways of a slot to another server.
    troubles: int = 0
    freezes: int = 0
    seconds: float = 0.0
    drained: bool = False
    #: Process id → when it was killed, local monotonic.
    killed: dict[int, float] = field(default_factory=dict)
    #: How processes ended that nobody had killed.
    broken: list[str] = field(default_factory=list)


@contextmanager
def staged(store: str, *, knows_nonces: bool = True) -> Iterator[tuple[Scene, Trouble]]:
    """Make a store of a kind in `TROUBLES` and an outside, until the block ends."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="interlock-kills-")))
        trouble = TROUBLES[store](stack, folder)
        channels = tuple(f"{200 + number}" for number in range(CHANNELS))
        first = int(time.time() * 1000) - EARLIER - DISCORD_EPOCH << 22
        steps = Steps()
        stack.callback(steps.close)
        scene = Scene(trouble.url, folder, channels, knows_nonces, first, steps)
        outside = Outside(scene.outside)
        outside.create_tables()
        outside.close()
        asyncio.run(warmed(scene))
        yield scene, trouble


async def warmed(scene: Scene) -> None:
    """
    Do once what each process would do first: create the store, and import what that takes.

    The first leases are as long as the calls that are made here make them.
    """
    state = connect(scene.state_url, partitions=1)
    await state.open()
    for number in range(CALLS):
        began = time.monotonic()
        await state.put(Scope(OWNER), "warm", f"{number}".encode(), ttl=1.0)
        scene.steps.tell(time.monotonic() - began)
    scene.steps.heard(0.0)
    await state.close()
    # What is here now stays: a collection in a child would only copy its pages.
    gc.freeze()


class Reaper:
    """Keeps a number of processes alive, and lets none of them live long."""

    def __init__(self, scene: Scene, trouble: Trouble) -> None:
        """Start them, and let the store have its *trouble* as well."""
        self.done = Reaped()
        self._scene, self._trouble = scene, trouble
        self._living = [spawned(scene) for _ in range(PROCESSES)]
        #: The process that stands still, and until when.
        self._frozen: tuple[int, float] | None = None
        self._freezes_at = FREEZES_EVERY

    def reap(self, kills: int) -> Reaped:
        """Kill so many while they work, then let those that live answer the rest."""
        began, done = time.monotonic(), self.done
        try:
            while done.kills < kills and not done.broken:
                self._wait()
                self._look()
                self._freeze_or_thaw()
                self._replace()
                done.troubles += self._trouble.strike()
            done.seconds = time.monotonic() - began
            self._thaw()
            self._trouble.end()
            done.drained = asyncio.run(drained(self._scene))
            self._look()
        finally:
            for pid in self._living:
                kill(pid)
                self._settle(pid)
        return done

    def _wait(self) -> None:
        """Let the living take a number of steps, or some time pass while they cannot."""
        if self._trouble.blocks:
            time.sleep(random.random() * BETWEEN)
            return
        left = wanted = random.randint(0, STEPS)
        began = heard_at = time.monotonic()
        while left > 0:
            heard = self._scene.steps.heard(LOOKS_EVERY)
            now = time.monotonic()
            left, heard_at = left - heard, now if heard else heard_at
            self._thaw_in_time()
            if now - heard_at > PATIENCE:
                self.done.broken.append(f"no process has got anything done for {PATIENCE:g} s")
                return
        if wanted:
            # Somewhere within a step, not just after one.
            time.sleep(random.random() * min(BETWEEN, (time.monotonic() - began) / wanted))

    def _look(self) -> None:
        """Note who has ended by itself."""
        for pid in list(self._living):
            if told := ended(pid):
                self.done.broken.append(told)
                self._settle(pid)
                self._living.remove(pid)

    def _replace(self) -> None:
        """Kill one, but not the one that stands still: it is to wake when its lease has ended."""
        frozen = self._frozen[0] if self._frozen else None
        at = random.choice([at for at, pid in enumerate(self._living) if pid != frozen])
        dead = self._living[at]
        kill(dead)
        self._living[at] = spawned(self._scene)
        self._settle(dead)
        self.done.kills += 1

    def _settle(self, dead: int) -> None:
        """Note when there was nothing left of what somebody had begun."""
        self._trouble.settle()
        self.done.killed[dead] = time.monotonic()

    def _freeze_or_thaw(self) -> None:
        self._thaw_in_time()
        if self._frozen is None and self.done.kills >= self._freezes_at:
            until = time.monotonic() + random.uniform(*FROZEN) * self._scene.steps.lease
            self._frozen = (random.choice(self._living), until)
            os.kill(self._frozen[0], signal.SIGSTOP)
            self.done.freezes += 1

    def _thaw_in_time(self) -> None:
        if self._frozen is not None and time.monotonic() > self._frozen[1]:
            self._thaw()

    def _thaw(self) -> None:
        if self._frozen is not None:
            os.kill(self._frozen[0], signal.SIGCONT)
            self._frozen, self._freezes_at = None, self.done.kills + FREEZES_EVERY


def kill(pid: int) -> None:
    """Kill a process, and see it dead."""
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def spawned(scene: Scene) -> int:
    """Fork a process of the bot; answer its id."""
    pid = os.fork()
    if pid == 0:
        try:
            live(scene)
        except BaseException:  # noqa: BLE001 (told, and then there is nothing left to do)
            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


def ended(pid: int) -> str:
    """How a process ended by itself; nothing if it lives."""
    found, status = os.waitpid(pid, os.WNOHANG)
    return f"process {pid} ended by itself: {os.waitstatus_to_exitcode(status)}" if found else ""


async def drained(scene: Scene) -> bool:
    """Wait until nothing is pending in any channel; whether that came while things got done."""
    outside = Outside(scene.outside)
    outside.fall_silent()
    outside.close()
    state = connect(scene.state_url, partitions=1)
    await state.open()
    heard_at = time.monotonic()
    pending = list(scene.channels)
    while pending and time.monotonic() - heard_at < PATIENCE:
        if scene.steps.heard(0.0):
            heard_at = time.monotonic()
        with suppress(StateUnavailable):
            view = await state.view(Conversation(OWNER, pending[-1]))
            if view.turn is None and not view.waiting:
                pending.pop()
                continue
        await asyncio.sleep(0.05)
    await state.close()
    return not pending
