"""Bots that are measured: processes of their own, each alone on a Discord on this machine."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox import Sandbox
from sandbox.limits import UNLIMITED, Limits

#: What runs our bot; it ends with the process that started it.
OURS = ("-m", "bot", "run", "--tied")

#: Seconds for a bot to come online, and between two looks.
_START, _LOOK = 30.0, 0.02

_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Bot:
    """A running bot and the Discord that it alone is on."""

    name: str
    sandbox: Sandbox
    process: asyncio.subprocess.Process

    @property
    def processor_seconds(self) -> float:
        """Processor time that it has taken so far."""
        # After the name, which may hold spaces: utime and stime are the 14th and 15th field.
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def running_bot(
    name: str, command: Sequence[str], folder: Path, limits: Limits = UNLIMITED
) -> AsyncIterator[Bot]:
    """Run a bot on a sandbox of its own until the block ends; it is online by then."""
    errors = folder / f"{name}.log"
    async with Sandbox(limits=limits) as sandbox:
        with errors.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, *command),
                *("--discord-api", sandbox.api, "--discord-gateway", sandbox.gateway),
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(_ROOT), "INTERLOCK_TOKEN": sandbox.token},
                stdin=asyncio.subprocess.PIPE,
                stderr=log,
            )
        bot = Bot(name, sandbox, process)
        try:
            await _online(bot, errors)
            yield bot
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _online(bot: Bot, errors: Path) -> None:
    """Wait until it hears what is said."""
    for _ in range(round(_START / _LOOK)):
        sessions = bot.sandbox.connections.sessions.values()
        if any(session.connection is not None for session in sessions):
            return
        if bot.process.returncode is not None:
            break
        await asyncio.sleep(_LOOK)
    raise RuntimeError(f"the bot {bot.name} does not come online: {_told(errors)}")


def _told(errors: Path) -> str:
    return errors.read_text().strip()[-200:] or "it told no error"
