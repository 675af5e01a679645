"""Turn a command line into settings, and whatever goes wrong into a line and exit code 2."""

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec

import typer
from dotenv import dotenv_values
from typer.core import TyperGroup

from bot.config import Loaded, load
from bot.config.sources import FLAGS
from bot.errors import StartupFailed
from bot.redaction import redact

P = ParamSpec("P")

#: What the sandbox's commands and `interlock init` find in the working directory.
DOTENV = Path(".env")

_HELP = {
    "discord.shards": "Shards of this process, such as 0-3 or 0,2,5.",
    "discord.shard_count": "Shards of the bot over all its processes.",
    "discord.api": "Address of another REST API than Discord's.",
    "discord.gateway": "Address of another gateway than Discord's.",
    "state.url": "The store, such as sqlite:interlock.db or redis://localhost:6379/0.",
    "log.level": "debug, info, warning or error.",
    "sandbox.port": "Port of the sandbox's page; 0 takes a free one.",
}


class OneLineGroup(TyperGroup):
    """Commands that say in a line what is wrong; `start` when none is named."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # noqa: ANN401 - typer's signature
    ) -> Any:  # noqa: ANN401 - typer's signature
        """Run one command, `start` if none is named, and leave with its exit code."""
        del prog_name, standalone_mode
        words = list(sys.argv[1:] if args is None else args)
        if not words or (words[0].startswith("-") and words[0] != "--help"):
            words.insert(0, "start")
        try:
            code = super().main(
                words,
                prog_name="interlock",
                complete_var=complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
        except StartupFailed as error:
            code = complain(error.lines)
        except typer.TyperException as error:
            code = complain([f"interlock: {error.format_message()}"])
        except typer.Abort:
            code = complain(["interlock: given up; nothing was changed"])
        sys.exit(code)


def complain(lines: Iterable[str]) -> int:
    """Print what is wrong, without secrets, and answer the exit code for it."""
    for line in lines:
        typer.echo(redact(line), err=True)
    return 2


def require_token(loaded: Loaded) -> str:
    """Answer the token, or raise `StartupFailed` with how to get one."""
    token = loaded.settings.discord.token
    if token is None:
        raise StartupFailed(
            "discord.token: there is none; run: interlock init, or set INTERLOCK_DISCORD__TOKEN"
        )
    return token.get_secret_value()


def with_settings(
    *keys: str,
) -> Callable[[Callable[Concatenate[Loaded, P], int]], Callable[P, int]]:
    """
    Give a command the loaded settings, and `--config` and the flags for *keys* as its options.

    The command gets only flags that it has a use for: one that is read and ignored is a lie.
    """

    def decorate(command: Callable[Concatenate[Loaded, P], int]) -> Callable[P, int]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        options = [_CONFIG, *map(_option, keys)]

        @functools.wraps(command)
        def run(*args: P.args, **kwargs: P.kwargs) -> int:
            config = kwargs.pop(_CONFIG.name)
            flags = {key: kwargs.pop(_name(key)) for key in keys}
            return command(_load(config, flags), *args, **kwargs)

        parameters = [*own, *options]
        run.__dict__["__signature__"] = inspect.Signature(parameters, return_annotation=int)
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def _load(config: object, flags: dict[str, object]) -> Loaded:
    path = config if isinstance(config, Path) else None
    loaded = load(path, flags, os.environ, dotenv=DOTENV)
    _pass_on_dotenv()
    return loaded


def _pass_on_dotenv() -> None:
    """Put the other lines of `.env` where libraries look for them, such as OPENAI_API_KEY."""
    given = dotenv_values(DOTENV, interpolate=False) if DOTENV.is_file() else {}
    for name, value in given.items():
        if value is not None and not name.upper().startswith("INTERLOCK_"):
            os.environ.setdefault(name, value)


def _name(key: str) -> str:
    return FLAGS[key].removeprefix("--").replace("-", "_")


def _option(key: str) -> inspect.Parameter:
    # Always text: settings from every place are checked by the same rules, in the same words.
    option = typer.Option(FLAGS[key], help=_HELP[key], show_default=False)
    return inspect.Parameter(
        _name(key),
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[str | None, option],
    )


_CONFIG = inspect.Parameter(
    "config",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        Path | None,
        typer.Option("--config", help="Settings file; interlock.toml if there is one."),
    ],
)
