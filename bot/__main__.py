"""
The command line: `interlock`, also `python -m bot`.

Each command is a few lines; what they are made of lives in `bot.cli`. Imports that take time or
that only one command needs are made by that command.
"""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import structlog
import typer

from bot import logs
from bot.cli import deadletters, show
from bot.cli.options import DOTENV, OneLineGroup, require_token, with_settings
from bot.config import DEFAULT_FILE, Loaded, Settings
from bot.errors import StartupFailed

if TYPE_CHECKING:
    from sandbox import Sandbox

app = typer.Typer(
    cls=OneLineGroup,
    name="interlock",
    help="A chat bot that gives each conversation one speaker at a time.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(deadletters.app, name="deadletters")

_RUN = (
    "discord.shards",
    "discord.shard_count",
    "discord.api",
    "discord.gateway",
    "state.url",
    "log.level",
)


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    app()
    raise AssertionError("a command leaves by SystemExit")


@app.command()
@with_settings(*_RUN, "sandbox.port")
def start(loaded: Loaded) -> int:
    """Run the bot; without a token, on a Discord on this machine (what `interlock` alone does)."""
    settings = loaded.settings
    if settings.discord.token is not None or settings.discord.api is not None:
        return _run_bot(loaded)
    _configure_logs(settings)
    asyncio.run(_run_on_sandbox(loaded))
    return 0


@app.command()
@with_settings(*_RUN)
def run(
    loaded: Loaded,
    tied: Annotated[
        bool, typer.Option("--tied", help="End when standard input ends.", hidden=True)
    ] = False,
) -> int:
    """Run the bot on Discord."""
    if tied:
        threading.Thread(target=_end_with_stdin, name="tied to stdin", daemon=True).start()
    return _run_bot(loaded)


@app.command()
@with_settings("sandbox.port", "log.level")
def sandbox(loaded: Loaded) -> int:
    """Run the Discord on this machine alone, for a bot that is started elsewhere."""
    _configure_logs(loaded.settings)
    asyncio.run(_run_sandbox_alone(loaded.settings))
    return 0


@app.command()
@with_settings("discord.api")
def init(
    loaded: Loaded,
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read the token from standard input.")
    ] = False,
) -> int:
    """Connect to Discord: ask for the token, check it, write .env, show the invite link."""
    from bot.cli.portal import who_is
    from bot.cli.setup import read_token, save_token, welcome, write_settings

    token = read_token(from_stdin=token_stdin)
    application = asyncio.run(who_is(token, loaded.settings.discord.api))
    save_token(DOTENV, token)
    written = write_settings()
    typer.echo(welcome(application, DOTENV, settings_written=written))
    return 0


@app.command()
@with_settings("discord.api", "state.url")
def check(loaded: Loaded) -> int:
    """Look at everything that a start needs, and say what to do about the rest."""
    from bot.cli.checks import look_at_everything

    async def failures() -> int:
        failed = 0
        async for result in look_at_everything(loaded):
            show.console().print(show.result_line(result), soft_wrap=True)
            failed += not result.passed
        return failed

    return 2 if asyncio.run(failures()) else 0


@app.command()
@with_settings("discord.api")
def invite(loaded: Loaded) -> int:
    """Show the link that adds the bot to a server, with the least rights."""
    from bot.cli.portal import who_is

    application = asyncio.run(who_is(require_token(loaded), loaded.settings.discord.api))
    typer.echo(application.invite)
    return 0


@app.command()
@with_settings(*_RUN, "sandbox.port")
def config(
    loaded: Loaded,
    channel: Annotated[str | None, typer.Option(help="Id of a channel or thread.")] = None,
    parent: Annotated[str | None, typer.Option(help="Id of the channel of a thread.")] = None,
    category: Annotated[str | None, typer.Option(help="Id of the channel's category.")] = None,
    guild: Annotated[str | None, typer.Option(help="Id of the channel's guild.")] = None,
) -> int:
    """Show every setting, its value and where it came from, for all or as it is in one place."""
    from bot.cli.places import find, placed
    from bot.config import Place

    given = Place(channel, parent, category, guild)
    if given != Place():
        place, known = asyncio.run(find(loaded, given))
        show.console().print(known, soft_wrap=True)
        loaded = placed(loaded, place)
    show.console().print(show.settings_table(loaded))
    return 0


@app.command()
@with_settings()
def new_cog(
    loaded: Loaded,
    name: Annotated[str, typer.Argument(help="Such as weather_report.", show_default=False)],
    path: Annotated[Path, typer.Option("--path", help="The folder to write into.")] = Path("my"),
) -> int:
    """Write a cog of your own and its test, and show the settings that run it."""
    from bot.cli.new_cog import told, write

    typer.echo(told(write(name, path), loaded.settings, loaded.file or DEFAULT_FILE))
    return 0


@app.command()
@with_settings("state.url")
def status(
    loaded: Loaded,
    once: Annotated[bool, typer.Option("--once", help="Print it once and end.")] = False,
) -> int:
    """Show who is being answered, what waits and what was given up, until interrupted."""
    from bot.cli.status import show as show_status

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(show_status(loaded.settings, show.console(), once=once))
    return 0


@app.command()
@with_settings("state.url")
def forget(
    loaded: Loaded,
    user: Annotated[str | None, typer.Option("--user", help="Id of a person.")] = None,
    guild: Annotated[str | None, typer.Option("--guild", help="Id of a guild.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Remove everything of a person or a guild from the store, for good."""
    from bot.cli.forget import confirm, targets
    from bot.cli.forget import forget as forget_all

    whom = targets(user, guild)
    if not yes:
        confirm(whom, loaded.settings)
    removed = asyncio.run(forget_all(whom, loaded.settings))
    typer.echo(f"Forgotten: {removed} conversations and traces.")
    return 0


def _run_bot(loaded: Loaded) -> int:
    from state.errors import StateError

    require_token(loaded)
    _configure_logs(loaded.settings)
    from bot.life import run as run_bot

    try:
        return asyncio.run(run_bot(loaded))
    except StateError as error:
        raise StartupFailed(f"state.url: {loaded.settings.state.url}: {error}") from None
    except StartupFailed:
        raise
    except Exception:  # noqa: BLE001 - the last door; what comes here is a bug
        # By way of the log, which takes secrets out of tracebacks; Python itself would not.
        structlog.get_logger("bot").exception("ended by an error that nobody expected")
        return 1


async def _run_on_sandbox(loaded: Loaded) -> None:
    from bot.supervisor import GRACE, BotProcess, child_environment, supervise

    command = [sys.executable, "-m", "bot", "run", "--tied"]
    if loaded.file is not None:
        command += ["--config", str(loaded.file)]
    console = show.console()
    async with _sandbox(loaded.settings) as sandbox:
        environment = child_environment(
            loaded,
            token=sandbox.token,
            api=sandbox.api,
            gateway=sandbox.gateway,
            environ=os.environ,
        )
        patience = loaded.settings.process.drain + GRACE
        bot = BotProcess(command, environment, patience=patience, say=console.print)
        sandbox.supervisor = bot
        console.print(show.page_panel(sandbox.page))
        await supervise(bot)


async def _run_sandbox_alone(settings: Settings) -> None:
    async with _sandbox(settings) as sandbox:
        lines = show.sandbox_lines(sandbox.page, sandbox.token, sandbox.api, sandbox.gateway)
        typer.echo(lines)
        await _until_signalled()


def _configure_logs(settings: Settings) -> None:
    token = settings.discord.token
    secrets = logs.secrets_in(os.environ)
    if token is not None:
        secrets.append(token.get_secret_value())
    logs.configure(settings.log, secrets=secrets)


@contextlib.asynccontextmanager
async def _sandbox(settings: Settings) -> "AsyncIterator[Sandbox]":
    from sandbox import DISCORD, Sandbox

    port = settings.sandbox.port
    async with contextlib.AsyncExitStack() as stack:
        try:
            opened = await stack.enter_async_context(Sandbox(port, limits=DISCORD))
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise StartupFailed(
                f"sandbox.port: {port} cannot be used: {reason}; choose another by --port,"
                " 0 for a free one"
            ) from None
        yield opened


async def _until_signalled() -> None:
    """Wait for SIGINT or SIGTERM."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, asked.set)
    await asked.wait()


def _end_with_stdin() -> None:
    """Ask this process to end when whoever holds the other end of standard input is gone."""
    # Not through sys.stdin: a thread that holds its lock stops the interpreter from ending.
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
