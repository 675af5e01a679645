"""A real process with the file open, killed with -9: what it acknowledged is there."""

import asyncio
import contextlib
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from state.outcomes import Duplicate, Placed, Turnover
from state.sqlite import SqliteState
from state.values import Changes, Claim, Conversation, Could, Inbound, Policy

CONVERSATIONS = 8
TRIGGER = Could(trigger=True)
LEASE = Claim(3.0)  # what a killed process held is free again that many seconds later
ROOT = Path(__file__).parents[2]


async def speak(state: SqliteState, conversation: Conversation, name: str) -> None:
    """Run one turn, after one that a killed process left; tell each end that is acknowledged."""
    inbound = Inbound(name, "ann", b"hello")
    placed = await state.admit(
        conversation, inbound, TRIGGER, Policy(), op=f"op-{conversation.id}-{name}", claim=LEASE
    )
    assert isinstance(placed, Placed)
    started = placed.turnover.started
    while True:
        while started is None:
            await asyncio.sleep(0.02)
            answer = await state.claim(conversation, op=secrets.token_hex(16), claim=LEASE)
            started = answer.started if isinstance(answer, Turnover) else None
        turn = started.lease.turn
        ended = await state.commit(
            started.lease,
            Changes(transcript=(turn.encode(),), keep=1_000_000),
            op=secrets.token_hex(16),
            claim=LEASE,
        )
        print(conversation.id, turn, flush=True)  # noqa: T201 (the parent reads it)
        if turn == name:
            return
        assert isinstance(ended, Turnover)
        started = ended.started


async def worker(path: str, first: int) -> None:
    """Run turns in several conversations at once until killed."""
    state = SqliteState(path)
    await state.open()

    async def converse(conversation: Conversation) -> None:
        number = first
        while True:
            await speak(state, conversation, f"{number}")
            number += 1

    async with asyncio.TaskGroup() as group:
        for number in range(CONVERSATIONS):
            group.create_task(converse(Conversation("guild/1", f"{number}")))


def killed_after(path: str, first: int, lines: int) -> list[tuple[str, int]]:
    """Start a worker, kill it after it has told *lines* ends; answer all that it told."""
    process = subprocess.Popen(
        [sys.executable, __file__, path, f"{first}"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = [process.stdout.readline() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    told += process.stdout.readlines()
    process.stdout.close()
    assert process.wait(10) == -signal.SIGKILL
    # The last line may have been cut in two; the rest was written after its commit.
    whole = [line.split() for line in told if line.endswith("\n")]
    return [(conversation, int(name)) for conversation, name in whole]


@pytest.mark.parametrize("ends", [30, 150])
async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, ends: int) -> None:
    """After kill -9 each acknowledged turn is there, once, in order, and none is half done."""
    path = str(tmp_path / "state.db")
    acknowledged: list[tuple[str, int]] = []
    for life in range(2):
        acknowledged += await asyncio.to_thread(killed_after, path, life * 1_000_000, ends)
    started = time.monotonic()
    state = SqliteState(path)
    await state.open()
    assert time.monotonic() - started < 2
    for number in range(CONVERSATIONS):
        conversation = Conversation("guild/1", f"{number}")
        entries = await state.history(conversation, limit=1_000_000)
        names = [int(entry.payload) for entry in entries]
        told = [name for where, name in acknowledged if where == conversation.id]
        assert names == sorted(set(names))
        assert set(told) <= set(names)
        for name in told[-3:]:
            again = await state.admit(
                conversation,
                Inbound(f"{name}", "ann", b"hello"),
                TRIGGER,
                Policy(),
                op=f"again-{number}-{name}",
                claim=None,
            )
            assert isinstance(again, Duplicate)
    await state.close()


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        asyncio.run(worker(sys.argv[1], int(sys.argv[2])))
