"""
Keep a sandbox and a bot side by side, as two processes, so that the bot can be killed for good.

The sandbox runs here; the bot is a child that finds it through its environment. A bot that dies
stays down until somebody asks for it: a crash is something to look at, not to paper over.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

from bot.config import Loaded
from bot.config.sources import variable

#: Seconds on top of `process.drain` until a bot that was asked to end is killed: a responder's
#: clean-up has less than 2 s, and the gateway and the store are closed after that.
GRACE = 10.0

#: The same for a store that is told apart by prefix, within the 32 characters that one may have.
_PREFIX_END = "-sandbox"
_PREFIX_ROOM = 32 - len(_PREFIX_END)


#: The lease of a supervised bot, unless one is chosen: whoever presses Crash and Restart is
#: watching, and no network can stall between the two.
WATCHED_LEASE = "4s"


class BotProcess:
    """
    The bot's process, which the buttons of the sandbox's page kill and start again.

    Calls may overlap; they take effect one after the other.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        patience: float,
        say: Callable[[str], None],
    ) -> None:
        """
        Run *command* in *environment*; *say* takes a line for the terminal.

        *patience* is the time from SIGTERM to SIGKILL, in seconds.
        """
        self._command = command
        self._environment = dict(environment)
        self._patience = patience
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._end: asyncio.Task[None] | None = None
        self._exit_code: int | None = None
        self._asked_to_end = False
        self._stopped = False
        self._one_at_a_time = asyncio.Lock()

    async def status(self) -> Mapping[str, object]:
        """Say whether the process is there, its id, and how the last one ended."""
        pid = None if self._process is None else self._process.pid
        return {"running": pid is not None, "pid": pid, "exit_code": self._exit_code}

    async def crash(self) -> None:
        """Kill the process with SIGKILL, as a crash would, and leave it down."""
        async with self._one_at_a_time:
            if self._process is not None:
                await self._signal(signal.SIGKILL)
                self._say("The bot was killed. The page stays; Restart starts it again.")

    async def restart(self) -> None:
        """Start the process; kill it first if it is there. After `stop` do nothing."""
        async with self._one_at_a_time:
            if not self._stopped:
                await self._signal(signal.SIGKILL)
                await self._start()

    async def stop(self) -> None:
        """Ask the process to end, for good; kill it when it has not within its patience."""
        # Set before the wait: a click that waits behind us must not start what we have ended.
        self._stopped = True
        async with self._one_at_a_time:
            if not await self._signal(signal.SIGTERM, within=self._patience):
                await self._signal(signal.SIGKILL)
                self._say("The bot did not end in time and was killed.")

    def kill(self) -> None:
        """Kill the process now, without waiting for the calls before this one."""
        self._asked_to_end = True
        self._send(signal.SIGKILL)

    def _send(self, sign: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                self._process.send_signal(sign)

    async def _start(self) -> None:
        self._asked_to_end = False
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._environment,
            # The bot ends when the other end of this pipe goes, so it never outlives the sandbox.
            stdin=asyncio.subprocess.PIPE,
            # Ctrl-C reaches a whole process group, and the bot must hear of it once, from us.
            process_group=0,
        )
        self._end = asyncio.create_task(self._await_end(self._process), name="the bot's process")

    async def _await_end(self, process: asyncio.subprocess.Process) -> None:
        code = await process.wait()
        if process.stdin is not None:
            process.stdin.close()
        self._process, self._exit_code = None, code
        if not self._asked_to_end:
            how = f"with exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
            self._say(f"The bot ended by itself {how}. The page stays; Restart starts it again.")

    async def _signal(self, sign: signal.Signals, *, within: float | None = None) -> bool:
        """Send *sign* and wait for the end; answer whether it came *within* so many seconds."""
        if self._process is None or self._end is None:
            return True
        self._asked_to_end = True
        self._send(sign)
        ended, _ = await asyncio.wait({self._end}, timeout=within)
        return bool(ended)


async def supervise(bot: BotProcess) -> None:
    """Run *bot* until SIGINT or SIGTERM, then end it; a second signal kills it."""
    asked = asyncio.Event()

    def on_signal() -> None:
        if asked.is_set():
            bot.kill()
        asked.set()

    with _signals(on_signal):
        try:
            await bot.restart()
            await asked.wait()
        finally:
            await bot.stop()


def child_environment(
    loaded: Loaded, *, token: str, api: str, gateway: str, environ: Mapping[str, str]
) -> dict[str, str]:
    """
    Give the bot the sandbox's addresses and token, a store of its own, and what flags said here.

    In the environment, because any user of the machine can read a command line.
    """
    settings = loaded.settings
    shards = settings.discord.shards
    from_flags = {
        "discord.shards": ",".join(map(str, shards or ())),
        "discord.shard_count": str(settings.discord.shard_count),
        "log.level": settings.log.level,
    }
    unless_chosen = {"state.lease": WATCHED_LEASE, "extension_reload": "true"}
    ours = {
        **{key: one for key, one in unless_chosen.items() if loaded.origins[key] == "default"},
        "discord.token": token,
        "discord.api": api,
        "discord.gateway": gateway,
        "state.url": _own_url(settings.state.url.get_secret_value()),
        "state.prefix": settings.state.prefix[:_PREFIX_ROOM] + _PREFIX_END,
    }
    given = {key: one for key, one in from_flags.items() if loaded.origins[key].startswith("flag")}
    return dict(environ) | {variable(key): value for key, value in (given | ours).items()}


def _own_url(url: str) -> str:
    """Keep the sandbox's conversations out of the file in which the real bot's will live."""
    scheme, _, rest = url.partition(":")
    if scheme != "sqlite" or rest.startswith(":"):
        return url
    path = PurePath(rest)
    return f"sqlite:{path.with_stem(f'{path.stem}.sandbox')}"


@contextlib.contextmanager
def _signals(receive: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, receive)
    try:
        yield
    finally:
        for sign in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(sign)
